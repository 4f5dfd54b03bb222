import { existsSync } from 'node:fs';
import type { CustomResourceDefinition } from '../api/types/apiextensions/v1.ts';
import { parseStored } from '../codec/stored-object.ts';
import { UsageError } from '../options/flag.ts';
import { parseOptions } from '../options/options.ts';
import { hidePasswords } from '../util/hidden-passwords.ts';
import { pause } from '../util/pause.ts';
import { stopSignal } from './stop-signal.ts';
import { describe } from './transfer/describe.ts';
import { importFlags, importOnlyFlags } from './transfer/import-flags.ts';
import { openTarget, type Target } from './transfer/import-target.ts';
import { Importer } from './transfer/importer.ts';
import { openSource } from './transfer/open-source.ts';
import { takeFlags } from './transfer/own-flags.ts';
import { Progress } from './transfer/progress.ts';
import { replayHistory } from './transfer/replay-history.ts';
import { nameSome } from './transfer/report.ts';
import { type Shaped, Shapes } from './transfer/shapes.ts';
import type { Source } from './transfer/source.ts';

/**
 * `import --from=`: writes the objects of another cluster into the database of this one, with their uids, times, managed fields,
 * status and owners. It may run beside servers, which see its writes as those of another server. A second run writes what has
 * changed since.
 * @throws Error with a message of one line, also when objects were refused
 */
export async function importCluster(args: readonly string[]): Promise<void> {
  const { values, others } = takeFlags(args, importFlags);
  const { storage, api } = parseOptions(others);
  const { dryRun, untilSynced } = values;
  const follows = values.follow || untilSynced;
  if (dryRun && follows)
    throw new UsageError(
      `${importFlags.dryRun.shown} reads the source once: leave ${importFlags.follow.shown} out`,
    );
  const progress = new Progress();
  const say = (line: string): void => progress.say(line);
  const shapes = new Shapes({ minor: api.emulated });
  const stop = stopSignal();
  const { signal, untilStopped } = stoppable(stop);
  const source = openSource(values, { shapes, signal, say });
  assertPossible(source, { follows, prunes: values.prune });
  const target = await openTarget(storage, { emulated: api.emulated, say });
  try {
    const importer = await Importer.begin({
      ...{ source, shapes, target, progress, signal, dryRun },
      eventTtlMs: storage.eventTtlMs,
      replaces: values.replace,
    });
    await takeHistory(source, { importer, progress, shapes, dryRun });
    await takeAll(source, { importer, progress, target, signal, dryRun });
    if (follows)
      await untilStopped((cutOver) => follow(source, { importer, progress, untilSynced, cutOver }));
    await importer.finish();
    for (const { name, reason } of source.unread) importer.report.refuse(name, reason);
    const missing = importer.missingNamespaces();
    if (missing.length > 0)
      importer.report.note(
        `there are objects in namespaces that are not there: ${nameSome(missing)}: kubectl create namespace ${missing[0]}`,
      );
    await removeOthers(source, importer, values.prune);
    progress.end();
    const lines = [
      ...importer.report.lines(dryRun),
      ...source.leftOut.map((line) => `not taken: ${line}`),
      ...(dryRun ? [] : [`compare them: pg-apiserver verify ${flagsOfVerify(args).join(' ')}`]),
    ];
    for (const line of lines) process.stdout.write(`${line}\n`);
    const { refused } = importer.report;
    if (refused > 0)
      throw new Error(`objects that were not taken: ${refused.toLocaleString('en-US')}, as above`);
  } catch (error) {
    progress.end();
    if (!signal.aborted || error !== signal.reason) throw error;
    throw new Error('stopped before all objects were taken: the same command goes on from here', {
      cause: error,
    });
  } finally {
    await source.close();
    await target.close();
  }
}

/** @throws UsageError where the source cannot be followed, or says too little to prune by it */
function assertPossible(
  source: Source,
  { follows, prunes }: { readonly follows: boolean; readonly prunes: boolean },
): void {
  const { follow, prune } = importFlags;
  if (follows && source.follow === undefined)
    throw new UsageError(
      `${follow.shown}: only a kubeconfig can be followed: of another source, stop its writers, then import and verify`,
    );
  if (prunes && source.isPartial)
    throw new UsageError(
      `${prune.shown}: a file may have a part of a cluster only: give a kubeconfig, kine or etcd`,
    );
}

/** The flags that verify takes too, as they were given, but for passwords. */
const flagsOfVerify = (args: readonly string[]): string[] =>
  takeFlags(args, importOnlyFlags).others.map(hidePasswords);

interface ImportParts {
  readonly importer: Importer;
  readonly progress: Progress;
  readonly target: Target;
  readonly signal: AbortSignal;
  readonly dryRun: boolean;
}

async function takeAll(
  source: Source,
  { importer, progress, target, signal, dryRun }: ImportParts,
): Promise<void> {
  for await (const { label, objects, removed = [], remaining } of source.read()) {
    progress.begin(label, remaining < 0 ? 0 : objects.length + remaining);
    const definitions: Shaped[] = [];
    for (const object of objects) {
      signal.throwIfAborted();
      const shaped = await importer.take(object);
      if (shaped?.key.resource === 'customresourcedefinitions') definitions.push(shaped);
    }
    for (const object of removed) await importer.remove(object);
    // What comes later may refer to these.
    if (definitions.length > 0 || label === 'namespaces' || label === 'Namespace') await importer.drain();
    if (!dryRun)
      await untilEstablished(definitions, { target, signal, say: (line) => importer.report.note(line) });
  }
  await importer.finish();
}

const ESTABLISHED_MS = 5000;
const POLL_MS = 200;

/** A server that runs on the target establishes definitions that came without a status. */
async function untilEstablished(
  definitions: readonly Shaped[],
  { target, signal, say }: Pick<ImportParts, 'target' | 'signal'> & { readonly say: (line: string) => void },
): Promise<void> {
  const left = new Set(definitions);
  const endMs = performance.now() + ESTABLISHED_MS;
  for (;;) {
    for (const one of left) {
      const stored = await target.get(one.key);
      if (stored === undefined || isEstablished(parseStored(stored.json))) left.delete(one);
    }
    if (left.size === 0) return;
    if (performance.now() > endMs) break;
    await pause(POLL_MS, signal);
    signal.throwIfAborted();
  }
  const names = [...left].map(({ key }) => key.name).join(', ');
  say(`not established: ${names}: a server that is started on this database does that`);
}

const isEstablished = ({ status }: CustomResourceDefinition): boolean =>
  status?.conditions?.some(({ type, status: is }) => type === 'Established' && is === 'True') === true;

/** The history of an export comes first: the present is its end. */
async function takeHistory(
  source: Source,
  {
    importer,
    progress,
    shapes,
    dryRun,
  }: Pick<ImportParts, 'importer' | 'progress' | 'dryRun'> & { shapes: Shapes },
): Promise<void> {
  const { historyFile } = source;
  if (historyFile === undefined || !existsSync(historyFile) || dryRun) return;
  for await (const { label, objects } of source.read()) {
    if (label !== 'CustomResourceDefinition') break;
    for (const object of objects) shapes.take(object);
  }
  const count = await replayHistory(historyFile, importer, progress);
  importer.report.note(
    `history: ${count} revisions in their order, with their authors; their numbers and times are new, and what is older than the first of an object is not there`,
  );
}

const QUIET_MS = 3000;

interface FollowParts extends Pick<ImportParts, 'importer' | 'progress'> {
  readonly untilSynced: boolean;
  readonly cutOver: AbortSignal;
}

/** Takes changes until the cut-over, or until none has come for a while; then what a last comparison finds. */
async function follow(
  source: Source,
  { importer, progress, untilSynced, cutOver }: FollowParts,
): Promise<void> {
  progress.end();
  progress.say(
    untilSynced
      ? 'all objects are taken; following the source until it is quiet'
      : 'all objects are taken; following the source: stop its writers, then end this by Ctrl-C',
  );
  progress.begin('followed');
  const quiet = new AbortController();
  const either = AbortSignal.any([cutOver, quiet.signal]);
  either.addEventListener('abort', () => progress.say('comparing with the source for the last time'));
  const timer = setTimeout(() => quiet.abort(), QUIET_MS);
  if (!untilSynced) clearTimeout(timer);
  try {
    for await (const { kind, object } of source.follow?.(either) ?? []) {
      if (untilSynced) timer.refresh();
      if (kind === 'removed') await importer.remove(object);
      else await importer.take(object);
    }
  } finally {
    clearTimeout(timer);
  }
}

/** The signal ends work at once; while the source is followed, it ends the following alone, and a second one the process. */
function stoppable(stop: AbortSignal): {
  readonly signal: AbortSignal;
  readonly untilStopped: (work: (stop: AbortSignal) => Promise<void>) => Promise<void>;
} {
  const work = new AbortController();
  const end = (): void => work.abort(stop.reason);
  stop.addEventListener('abort', end);
  return {
    signal: work.signal,
    untilStopped: (follow) => {
      stop.removeEventListener('abort', end);
      return follow(stop);
    },
  };
}

/** Removes what only the target has, or says so. */
async function removeOthers(source: Source, importer: Importer, prunes: boolean): Promise<void> {
  if (source.isPartial || importer.report.refused > 0) {
    if (prunes)
      importer.report.note(
        `${importFlags.prune.shown} has removed nothing: not all objects of the source could be taken`,
      );
    return;
  }
  const others = await importer.findOthers(source);
  if (prunes) await importer.prune(others);
  else if (others.length > 0)
    importer.report.note(
      `only in the target: ${nameSome(others.map(({ key }) => describe(key)))}: a running cluster makes some itself, the source may have removed others; ${importFlags.prune.shown} removes them`,
    );
}
