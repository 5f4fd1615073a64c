// The echo server on the TypeScript SDK 1.x: Streamable HTTP on node:http, one server and transport per session.
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { z } from "zod";

const sessions = new Map();

async function open() {
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    enableJsonResponse: !process.argv.includes("sse"),
    onsessioninitialized: (id) => sessions.set(id, transport),
  });
  const server = new McpServer({ name: "bench", version: "1" });
  server.registerTool(
    "echo",
    { description: "Say the text again.", inputSchema: { text: z.string() } },
    async ({ text }) => ({ content: [{ type: "text", text }] }),
  );
  await server.connect(transport);
  return transport;
}

const http = createServer(async (request, response) => {
  const id = request.headers["mcp-session-id"];
  const transport = id ? sessions.get(id) : await open();
  if (transport) await transport.handleRequest(request, response);
  else response.writeHead(404).end();
});
http.listen(0, "127.0.0.1", () => console.error(`http://127.0.0.1:${http.address().port}/mcp`));
