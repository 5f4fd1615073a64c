// The echo server on the TypeScript SDK 2.x on node:http: its handler for the stateless form, a transport per session
// for the other. With `watch` it has a resource that changes.
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { NodeStreamableHTTPServerTransport, toNodeHandler } from "@modelcontextprotocol/node";
import { McpServer, createMcpHandler } from "@modelcontextprotocol/server";
import { z } from "zod";

const NOTE = "bench:///note";
const watch = process.argv.includes("watch");
const sessions = new Map();

function build() {
  const server = new McpServer(
    { name: "bench", version: "1" },
    watch ? { capabilities: { resources: { subscribe: true } } } : {},
  );
  server.registerTool(
    "echo",
    { description: "Say the text again.", inputSchema: z.object({ text: z.string() }) },
    async ({ text }) => ({ content: [{ type: "text", text }] }),
  );
  if (watch) {
    server.registerResource("note", NOTE, {}, async () => ({ contents: [{ uri: NOTE, text: "note" }] }));
    server.registerTool("touch", { description: "Change the note." }, async () => {
      handler.notify.resourceUpdated(NOTE);
      return { content: [{ type: "text", text: "touched" }] };
    });
  }
  return server;
}

const handler = createMcpHandler(build, { legacy: "reject" });
const stateless = toNodeHandler(handler);

async function open() {
  const transport = new NodeStreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    enableJsonResponse: !process.argv.includes("sse"),
    onsessioninitialized: (id) => sessions.set(id, transport),
  });
  await build().connect(transport);
  return transport;
}

const http = createServer(async (request, response) => {
  if (request.headers["mcp-protocol-version"] === "2026-07-28") return stateless(request, response);
  const id = request.headers["mcp-session-id"];
  const transport = id ? sessions.get(id) : await open();
  if (transport) await transport.handleRequest(request, response);
  else response.writeHead(404).end();
});
http.listen(0, "127.0.0.1", () => console.error(`http://127.0.0.1:${http.address().port}/mcp`));
