// The tour every TypeScript client takes through the fixture server, and the report of what it saw.
//
// The same steps as tour.py, in the same order. The two SDKs share their method names; what differs is handed
// over by the script of each. A step that fails or takes too long is reported as such, and the tour goes on.

import { EventEmitter, once } from "node:events";

const STEP = 10_000; // milliseconds
const NOTE = "note:///groceries";
const TEXT = "grüße\n\u2028 \u{1F401}";
const ANSWERS = ["decline", "accept"]; // to the question of delete_note, in this order
const LOG_LEVEL = "io.modelcontextprotocol/logLevel";

/** What the server said on its own: questions, notices, reports. Something to wait on. */
class Heard {
  items = [];
  #more = new EventEmitter();

  add(item) {
    this.items.push(item);
    this.#more.emit("more");
  }

  async until(enough, signal) {
    while (!enough(this.items)) await once(this.#more, "more", { signal });
  }
}

export class Report {
  saw = {};
  notices = new Heard();
  progress = new Heard();
  logs = new Heard();
  questions = new Heard();

  /** Take one step and write down what came of it. */
  async step(name, work) {
    const limit = AbortSignal.timeout(STEP);
    const late = new Promise((_, reject) =>
      limit.addEventListener("abort", () => reject(new Error(`nothing within ${STEP} ms`)))
    );
    try {
      this.saw[name] = (await Promise.race([work(limit), late])) ?? null;
    } catch (error) {
      this.saw[name] = Number.isInteger(error.code) ? { refused: error.code } : { failed: String(error) };
    }
  }
}

/** Run a client; whatever becomes of it, print what it saw as one JSON document. */
export async function run(main) {
  const report = new Report();
  try {
    await main(report);
  } finally {
    const said = Object.fromEntries(
      ["notices", "progress", "logs", "questions"].map((name) => [name, report[name].items])
    );
    console.log(JSON.stringify({ ...report.saw, ...said }));
  }
}

/** What the client answers when it is asked, by method. */
export function answers(report) {
  const actions = [...ANSWERS];
  return {
    "elicitation/create": ({ params }) => {
      report.questions.add(["elicitation/create", params]);
      const action = actions.shift();
      return action === "accept" ? { action, content: { delete: true } } : { action };
    },
    "sampling/createMessage": ({ params }) => {
      report.questions.add(["sampling/createMessage", params]);
      return { role: "assistant", model: "foreign-1", content: { type: "text", text: "buy milk" } };
    },
    "roots/list": () => {
      report.questions.add(["roots/list", null]);
      return { roots: [{ uri: "file:///workspace" }] };
    },
  };
}

/** What the client does with a notice, by method. */
export function notices(report) {
  return {
    "notifications/message": ({ params }) => report.logs.add([params.level, params.data]),
    "notifications/resources/updated": ({ method, params }) => report.notices.add([method, params.uri]),
    "notifications/tools/list_changed": ({ method }) => report.notices.add([method, null]),
    "notifications/prompts/list_changed": ({ method }) => report.notices.add([method, null]),
    "notifications/resources/list_changed": ({ method }) => report.notices.add([method, null]),
  };
}

/**
 * Use everything the server has, once. `watching` opens a subscription and returns how to end it; `callTool`
 * calls a tool with options.
 */
export async function tour(client, report, { stateless, watching, callTool }) {
  const step = (name, work) => report.step(name, work);
  const call = (name, args = {}) => client.callTool({ name, arguments: args });

  report.saw.server = client.getServerVersion();
  report.saw.instructions = client.getInstructions();
  report.saw.capabilities = client.getServerCapabilities();
  if (!stateless) await step("ping", () => client.ping());
  await step("tools", () => client.listTools());
  await step("echo", () => call("echo", { text: TEXT }));
  await step("add", () => call("add", { a: 2, b: 40 }));
  await step("add_wrongly", () => call("add", { a: "two", b: 40 }));
  await step("unknown_tool", () => call("no_such_tool"));
  await step("draw", () => call("draw"));

  const onprogress = ({ progress, total, message }) => report.progress.add([progress, total, message]);

  /** The server waits after each number: a report that comes together with the result is lost by these clients. */
  function countInStep(to, options) {
    const params = { name: "count", arguments: { to, in_step: true } };
    if (stateless) params._meta = { [LOG_LEVEL]: "info" };
    return callTool(params, { onprogress, ...options });
  }

  await step("count", async (signal) => {
    if (!stateless) await client.setLoggingLevel("info");
    const counting = countInStep(3);
    for (const number of [1, 2, 3]) {
      await report.progress.until((said) => said.length === number, signal);
      await call("go_on");
    }
    await report.logs.until((said) => said.length === 3, signal);
    return counting;
  });

  await step("resources", () => client.listResources());
  await step("templates", () => client.listResourceTemplates());
  await step("read", () => client.readResource({ uri: NOTE }));
  await step("read_missing", () => client.readResource({ uri: "note:///nowhere" }));
  await step("prompts", () => client.listPrompts());
  await step("prompt", () => client.getPrompt({ name: "review_note", arguments: { title: "groceries" } }));
  await step("complete", () =>
    client.complete({
      ref: { type: "ref/resource", uri: "note:///{title}" },
      argument: { name: "title", value: "gro" },
    })
  );

  await step("delete_declined", () => call("delete_note", { title: "ideas" }));
  await step("delete_accepted", () => call("delete_note", { title: "ideas" }));
  await step("summarise", () => call("summarise", { title: "groceries" }));
  await step("show_roots", () => call("show_roots"));

  await step("watch", async (signal) => {
    const heard = (method, uri) => (said) => said.some((notice) => notice[0] === method && notice[1] === uri);
    const stop = await watching(NOTE);
    await call("write_note", { title: "unwatched", text: "nobody is told" });
    await call("write_note", { title: "groceries", text: "bread" });
    await report.notices.until(heard("notifications/resources/updated", NOTE), signal);
    await step("read_again", () => client.readResource({ uri: NOTE }));
    await call("toggle_extra");
    await report.notices.until(heard("notifications/tools/list_changed", null), signal);
    await step("tools_again", () => client.listTools());
    await stop();
    await call("write_note", { title: "groceries", text: "no longer watched" });
  });

  await step("cancel", async (signal) => {
    const heard = report.progress.items.length;
    const abandon = new AbortController();
    const counting = countInStep(1000, { signal: abandon.signal }).then(
      () => Promise.reject(new Error("the count was answered")),
      () => undefined
    );
    await report.progress.until((said) => said.length > heard, signal);
    abandon.abort("no longer needed");
    await counting;
    return call("notice_cancellation");
  });
  await step("last_words", () => call("echo", { text: "still here" }));
}
