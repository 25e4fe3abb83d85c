/** All in one file: each file of tests imports Nest anew, and that took half of their time. */
import "reflect-metadata";
import "./application.ts";
import "./server.ts";
import "./system-2.ts";
import "./virtual-time.ts";
