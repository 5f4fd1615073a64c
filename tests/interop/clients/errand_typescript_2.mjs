// The official TypeScript client 2.x on an errand: `node errand_typescript_2.mjs auto|legacy ERRAND.json COMMAND...|URL`

import { readFileSync } from "node:fs";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { answers, capabilities, Errand } from "./errand.mjs";
import { run } from "./tour.mjs";

const [mode, plan, target, ...args] = process.argv.slice(2);
const { steps, answers: said } = JSON.parse(readFileSync(plan, "utf8"));

await run(async (report) => {
  const client = new Client(
    { name: "typescript-2", version: "1" },
    { capabilities: capabilities(said), versionNegotiation: { mode } }
  );
  const errand = new Errand(client, async (uri) => {
    if (mode === "auto") {
      const stream = await client.listen({ resourceSubscriptions: [uri] });
      return () => stream.close();
    }
    await client.subscribeResource({ uri });
    return () => client.unsubscribeResource({ uri });
  });
  for (const [method, answer] of Object.entries(answers(report, said)))
    client.setRequestHandler(method, answer);
  for (const [method, hear] of Object.entries(errand.hear)) client.setNotificationHandler(method, hear);
  await client.connect(
    target.startsWith("http")
      ? new StreamableHTTPClientTransport(new URL(target))
      : new StdioClientTransport({ command: target, args })
  );
  report.saw.revision = client.getNegotiatedProtocolVersion();
  await errand.run(report, steps);
  await client.close();
});
