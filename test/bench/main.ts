import { writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { parseArguments, type Settings, USAGE } from './arguments.ts';
import type { Group } from './bench.ts';
import type { Row } from './report/row.ts';
import { formatTable } from './report/table.ts';
import { runGroups } from './run.ts';
import { GROUPS } from './scenarios/all.ts';
import { CUSTOM_GROUPS } from './scenarios/custom.ts';
import { kubemark } from './scenarios/kubemark.ts';
import { scale } from './scenarios/scale.ts';

/** `npm run bench`. Exit code 1 when a scenario failed. */
async function main(settings: Settings): Promise<number> {
  if (settings.help) {
    process.stdout.write(USAGE);
    return 0;
  }
  const groups = groupsOf(settings);
  if (settings.list) {
    for (const { name } of groups.flatMap(({ scenarios }) => [...scenarios]))
      process.stdout.write(`${name}\n`);
    return 0;
  }
  const rows: Row[] = [];
  const onRow = (row: Row): void => {
    rows.push(row);
    process.stderr.write(`${row.status === 'ok' ? ' ' : '!'} ${row.scenario}\n`);
    if (settings.jsonFile !== undefined) writeFileSync(settings.jsonFile, toJson(settings, rows));
  };
  await runGroups(groups, { settings, onRow, signal: untilSignal() });
  process.stdout.write(`\n${describeMachine()}\n\n${formatTable(rows)}\n`);
  return rows.some(({ status }) => status === 'failed') ? 1 : 0;
}

function groupsOf({ custom, kubemark: cluster, scale: size }: Settings): readonly Group[] {
  if (custom) return CUSTOM_GROUPS;
  if (cluster !== undefined) return [kubemark(cluster.nodes, cluster.seconds)];
  return size === undefined ? GROUPS : [scale];
}

/** A first signal stops everything that was started; a second one ends this process as it is. */
function untilSignal(): AbortSignal {
  const controller = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => controller.abort());
  return controller.signal;
}

function describeMachine(): string {
  const [cpu] = cpus();
  const gigabytes = Math.round(totalmem() / 1024 ** 3);
  return `${cpus().length} × ${cpu?.model ?? 'CPU'}, ${gigabytes} GB, Node.js ${process.version}`;
}

function toJson({ quick, kubeconfig }: Settings, rows: readonly Row[]): string {
  const machine = { description: describeMachine(), cores: cpus().length, node: process.version };
  const server = kubeconfig === undefined ? 'own' : 'given';
  return `${JSON.stringify({ at: new Date().toISOString(), machine, server, quick, rows }, null, 2)}\n`;
}

process.exitCode = await main(parseArguments(process.argv.slice(2)));
