/** `@holdfast/server` as a route of a Nest application, behind its guards. */
export {
  HoldfastServerModule,
  type HoldfastServerModuleOptions,
  type NestRequest,
} from "./server-module.ts";
