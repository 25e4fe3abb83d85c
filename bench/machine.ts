/** What the figures were measured on. Without this they mean nothing. */
import { statfsSync } from "node:fs";
import { availableParallelism, cpus, loadavg, release, totalmem, type } from "node:os";

/** The numbers `statfs` gives on Linux; others are shown as they are. */
const FILE_SYSTEMS = new Map([
  [0xef53, "ext4"],
  [0x58465342, "xfs"],
  [0x9123683e, "btrfs"],
  [0x01021994, "tmpfs"],
  [0x794c7630, "overlayfs"],
  [0x2fc12fc1, "zfs"],
]);

export interface Machine {
  readonly cores: number;
  readonly cpu: string;
  readonly memoryGb: number;
  readonly system: string;
  readonly node: string;
  readonly fileSystem: string;
  /** Of the last minute, when the run began. */
  readonly load: number;
}

export function machineFacts(folder: string): Machine {
  const kind = statfsSync(folder).type;
  return {
    cores: availableParallelism(),
    cpu: cpus()[0]?.model ?? "unknown",
    memoryGb: Math.round(totalmem() / 2 ** 30),
    system: `${type()} ${release()} ${process.arch}`,
    node: process.versions.node,
    fileSystem: FILE_SYSTEMS.get(kind) ?? `0x${kind.toString(16)}`,
    load: loadavg()[0] ?? 0,
  };
}

/** What makes the figures worth less than they look. */
export function warnings({ fileSystem, load, cores }: Machine): string[] {
  return [
    ...(fileSystem === "tmpfs"
      ? ["The folder is in memory: a commit costs no disk here. Choose another with --folder."]
      : []),
    ...(load > cores / 4
      ? [`The machine was busy at the start (load ${load.toFixed(1)}): read ratios, not rates.`]
      : []),
  ];
}
