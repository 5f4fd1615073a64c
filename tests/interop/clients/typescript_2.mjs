// The official TypeScript client 2.x: `node typescript_2.mjs auto|legacy COMMAND...|URL`

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { answers, notices, run, tour } from "./tour.mjs";

const [mode, target, ...args] = process.argv.slice(2);

function connection() {
  if (target.startsWith("http")) return new StreamableHTTPClientTransport(new URL(target));
  return new StdioClientTransport({ command: target, args });
}

await run(async (report) => {
  const client = new Client(
    { name: "typescript-2", version: "1" },
    { capabilities: { elicitation: {}, sampling: {}, roots: {} }, versionNegotiation: { mode } }
  );
  for (const [method, answer] of Object.entries(answers(report))) client.setRequestHandler(method, answer);
  for (const [method, hear] of Object.entries(notices(report))) client.setNotificationHandler(method, hear);

  await client.connect(connection());
  report.saw.revision = client.getNegotiatedProtocolVersion();
  const stateless = mode === "auto";

  async function listening(uri) {
    const stream = await client.listen({ toolsListChanged: true, resourceSubscriptions: [uri] });
    report.saw.honored = stream.honoredFilter;
    return () => stream.close();
  }

  async function subscribed(uri) {
    await client.subscribeResource({ uri });
    return () => client.unsubscribeResource({ uri });
  }

  await tour(client, report, {
    stateless,
    watching: stateless ? listening : subscribed,
    callTool: (params, options) => client.callTool(params, options),
  });
  await client.close();
});
