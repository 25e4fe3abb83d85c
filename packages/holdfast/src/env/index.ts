/** Options from the environment. The library reads none by itself: this is where it is asked to. */
export {
  optionsFromEnv,
  optionsOf,
  refuseProblems,
  type EnvOptions,
  type FromEnvOptions,
} from "./options-from-env.ts";
export {
  hideCredentials,
  kebab,
  readSettings,
  shownValue,
  type Layers,
  type ReadSettings,
} from "./read-settings.ts";
export {
  SETTING_NAMES,
  SETTINGS,
  type Setting,
  type SettingKind,
  type SettingName,
  type SettingValues,
} from "./settings-table.ts";
