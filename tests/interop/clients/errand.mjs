// The steps of an errand, for both TypeScript clients; see `errand.py` beside this folder.

import { execFile } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { promisify } from "node:util";

const UPDATED = "notifications/resources/updated";

/** Which resources were said to have changed. Something to wait on. */
class Updates {
  heard = [];
  #more = new EventEmitter();

  add(uri) {
    this.heard.push(uri);
    this.#more.emit("more");
  }

  async until(uri, signal) {
    while (!this.heard.includes(uri)) await once(this.#more, "more", { signal });
  }
}

/** What the client answers when it is asked, by method; only what the errand has answers for. */
export function answers(report, said) {
  const forms = [...(said.elicit ?? [])];
  const all = {
    "elicitation/create": ({ params }) => {
      report.questions.add(["elicitation/create", params]);
      return forms.shift();
    },
    "roots/list": () => ({ roots: said.roots.map((uri) => ({ uri })) }),
  };
  if (!said.elicit) delete all["elicitation/create"];
  if (!said.roots) delete all["roots/list"];
  return all;
}

/** The capabilities that go with those answers. */
export function capabilities(said) {
  return { ...(said.elicit && { elicitation: {} }), ...(said.roots && { roots: {} }) };
}

export class Errand {
  updates = new Updates();

  /** `watching` opens a subscription and returns how to end it. */
  constructor(client, watching) {
    this.client = client;
    this.watching = watching;
  }

  hear = { [UPDATED]: ({ params }) => this.updates.add(params.uri) };

  async run(report, steps) {
    for (const [number, step] of steps.entries())
      await report.step(String(number), (signal) => this.take(step, signal));
  }

  async take(step, signal) {
    const { client } = this;
    switch (step.do) {
      case "list":
        return {
          tools: () => client.listTools(),
          resources: () => client.listResources(),
          templates: () => client.listResourceTemplates(),
          prompts: () => client.listPrompts(),
        }[step.what]();
      case "call":
        return client.callTool({ name: step.tool, arguments: step.arguments });
      case "read":
        return client.readResource({ uri: step.uri });
      case "prompt":
        return client.getPrompt({ name: step.name, arguments: step.arguments });
      case "complete":
        return client.complete({
          ref: { type: "ref/resource", uri: step.template },
          argument: { name: step.argument, value: step.typed },
        });
      case "run":
        await promisify(execFile)(step.command[0], step.command.slice(1));
        return null;
      case "watch": {
        const stop = await this.watching(step.uri);
        await this.take(step.meanwhile, signal);
        await this.updates.until(step.uri, signal);
        await stop();
        return this.updates.heard;
      }
      default:
        throw new Error(`no such step: ${JSON.stringify(step)}`);
    }
  }
}
