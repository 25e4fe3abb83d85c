/** Plain `http`: requests under the path go to Holdfast, the others are yours. */
import { createServer } from "node:http";
import { jobs, port, started } from "./jobs.ts";

createServer((request, response) => {
  if (request.url?.startsWith("/admin/jobs")) jobs.node(request, response);
  else response.end("my own page");
}).listen(port, "127.0.0.1", started);
