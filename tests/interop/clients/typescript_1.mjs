// The official TypeScript SDK 1.x as a client: `node typescript_1.mjs COMMAND...|URL`

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import * as types from "@modelcontextprotocol/sdk/types.js";
import { answers, notices, run, tour } from "./tour.mjs";

const [target, ...args] = process.argv.slice(2);

function connection() {
  if (target.endsWith("/sse")) return new SSEClientTransport(new URL(target));
  if (target.startsWith("http")) return new StreamableHTTPClientTransport(new URL(target));
  return new StdioClientTransport({ command: target, args });
}

/** This version names a method by the schema of its messages. */
const SCHEMAS = {
  "elicitation/create": types.ElicitRequestSchema,
  "sampling/createMessage": types.CreateMessageRequestSchema,
  "roots/list": types.ListRootsRequestSchema,
  "notifications/message": types.LoggingMessageNotificationSchema,
  "notifications/resources/updated": types.ResourceUpdatedNotificationSchema,
  "notifications/tools/list_changed": types.ToolListChangedNotificationSchema,
  "notifications/prompts/list_changed": types.PromptListChangedNotificationSchema,
  "notifications/resources/list_changed": types.ResourceListChangedNotificationSchema,
};

await run(async (report) => {
  const client = new Client(
    { name: "typescript-1", version: "1" },
    { capabilities: { elicitation: {}, sampling: {}, roots: {} } }
  );
  for (const [method, answer] of Object.entries(answers(report)))
    client.setRequestHandler(SCHEMAS[method], answer);
  for (const [method, hear] of Object.entries(notices(report)))
    client.setNotificationHandler(SCHEMAS[method], hear);

  const transport = connection();
  const setProtocolVersion = transport.setProtocolVersion?.bind(transport);
  transport.setProtocolVersion = (revision) => {
    report.saw.revision = revision;
    setProtocolVersion?.(revision); // over HTTP it goes into a header
  };
  await client.connect(transport);

  async function subscribed(uri) {
    await client.subscribeResource({ uri });
    return () => client.unsubscribeResource({ uri });
  }

  await tour(client, report, {
    stateless: false,
    watching: subscribed,
    callTool: (params, options) => client.callTool(params, types.CallToolResultSchema, options),
  });
  await client.close();
});
