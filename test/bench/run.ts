import type { Settings } from './arguments.ts';
import type { Bench, Figures, Group, Scenario, Stage } from './bench.ts';
import { openEnvironment } from './environment/environment.ts';
import { Limits } from './limit/limits.ts';
import type { GeneratorCalls } from './load/jobs.ts';
import { Worker } from './process/worker.ts';
import type { Row } from './report/row.ts';

export type OnRow = (row: Row) => void;

export interface Run {
  readonly settings: Settings;
  readonly onRow: OnRow;
  /** Ends it early: what was measured stands, and everything that was started is stopped. */
  readonly signal: AbortSignal;
}

/** Runs what was chosen, group after group. What fails is a row too. */
export async function runGroups(groups: readonly Group[], { settings, onRow, signal }: Run): Promise<void> {
  await using limits = new Limits();
  for (const group of groups) {
    if (signal.aborted) return;
    const chosen = group.scenarios
      .filter(({ name }) => isChosen(name, settings.only))
      .map(({ name }) => name);
    if (chosen.length === 0) continue;
    await using generator = new Worker<GeneratorCalls>('load/generator.ts');
    signal.addEventListener('abort', () => void generator[Symbol.asyncDispose](), { once: true });
    const stage: Stage = {
      settings,
      generator,
      limits,
      open: () => openEnvironment(settings),
      scale: (full, quick) => (settings.quick ? quick : full),
    };
    try {
      await runGroup(group, { stage, chosen, onRow, signal });
    } catch (error) {
      for (const name of chosen) onRow(toFailure(name, error));
    }
  }
}

export const isChosen = (name: string, only: readonly string[]): boolean =>
  only.length === 0 || only.some((wanted) => name === wanted || name.startsWith(wanted));

interface Running {
  readonly stage: Stage;
  readonly chosen: readonly string[];
  readonly onRow: OnRow;
  readonly signal: AbortSignal;
}

async function runGroup(group: Group, running: Running): Promise<void> {
  const { stage } = running;
  if (group.server === 'own') {
    await runScenarios(group.scenarios, stage, running);
    return;
  }
  if (group.server === 'kept') {
    await using bench = await group.open(stage);
    await runScenarios(group.scenarios, bench, running);
    return;
  }
  await using environment = await stage.open();
  const bench: Bench = { ...stage, environment };
  await group.prepare?.(bench, running.chosen);
  await runScenarios(group.scenarios, bench, running);
}

async function runScenarios<On>(
  scenarios: readonly Scenario<On>[],
  on: On,
  { chosen, onRow, signal }: Running,
): Promise<void> {
  for (const { name, run } of scenarios) {
    if (!chosen.includes(name) || signal.aborted) continue;
    try {
      for (const row of toRows(name, await run(on))) onRow(row);
    } catch (error) {
      onRow(toFailure(name, error));
    }
  }
}

const toRows = (name: string, figures: Figures | readonly Figures[]): Row[] =>
  [figures].flat().map((one) => ({ scenario: name, status: 'ok', ...one }));

const toFailure = (scenario: string, error: unknown): Row => ({
  scenario,
  status: 'failed',
  note: error instanceof Error ? error.message : String(error),
});
