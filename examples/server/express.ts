/** Express 5. It makes no difference whether `express.json()` comes before. */
import express from "express";
import { jobs, port, started } from "./jobs.ts";

const app = express();
app.use(express.json());
app.use("/admin/jobs", (request, response) => jobs.node(request, response));
app.get("/", (_request, response) => void response.send("my own page"));
app.listen(port, "127.0.0.1", started);
