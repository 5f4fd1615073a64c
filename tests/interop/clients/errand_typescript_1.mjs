// The official TypeScript SDK 1.x on an errand: `node errand_typescript_1.mjs ERRAND.json COMMAND...|URL`

import { readFileSync } from "node:fs";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import * as types from "@modelcontextprotocol/sdk/types.js";
import { answers, capabilities, Errand } from "./errand.mjs";
import { run } from "./tour.mjs";

const [plan, target, ...args] = process.argv.slice(2);
const { steps, answers: said } = JSON.parse(readFileSync(plan, "utf8"));
/** This version names a method by the schema of its messages. */
const SCHEMAS = {
  "elicitation/create": types.ElicitRequestSchema,
  "roots/list": types.ListRootsRequestSchema,
  "notifications/resources/updated": types.ResourceUpdatedNotificationSchema,
};

await run(async (report) => {
  const client = new Client({ name: "typescript-1", version: "1" }, { capabilities: capabilities(said) });
  const errand = new Errand(client, async (uri) => {
    await client.subscribeResource({ uri });
    return () => client.unsubscribeResource({ uri });
  });
  for (const [method, answer] of Object.entries(answers(report, said)))
    client.setRequestHandler(SCHEMAS[method], answer);
  for (const [method, hear] of Object.entries(errand.hear))
    client.setNotificationHandler(SCHEMAS[method], hear);
  const transport = target.startsWith("http")
    ? new StreamableHTTPClientTransport(new URL(target))
    : new StdioClientTransport({ command: target, args });
  const setProtocolVersion = transport.setProtocolVersion?.bind(transport);
  transport.setProtocolVersion = (revision) => {
    report.saw.revision = revision;
    setProtocolVersion?.(revision); // over HTTP it goes into a header
  };
  await client.connect(transport);
  await errand.run(report, steps);
  await client.close();
});
