import type { JsonValue } from '../api/object-meta.ts';
import { parseStored } from '../codec/stored-object.ts';
import { parseOptions } from '../options/options.ts';
import { stopSignal } from './stop-signal.ts';
import { describe } from './transfer/describe.ts';
import { type Difference, differencesOf } from './transfer/differences.ts';
import { importOnlyFlags } from './transfer/import-flags.ts';
import { type Live, openTarget, type Target } from './transfer/import-target.ts';
import { learnDefinitions } from './transfer/learn-definitions.ts';
import { openSource, sourceFlags } from './transfer/open-source.ts';
import { findOthers } from './transfer/others.ts';
import { takeFlags } from './transfer/own-flags.ts';
import { Progress } from './transfer/progress.ts';
import { nameSome } from './transfer/report.ts';
import { Refused, type Shaped, Shapes, type SourceObject } from './transfer/shapes.ts';
import type { Source } from './transfer/source.ts';

/** Differences of one object that are shown. */
const MOST_SHOWN = 5;
const MOST_TEXT = 60;

/**
 * `verify --from=`: compares the objects of a source with those in the database of this cluster, but for their resourceVersion, and
 * prints each difference.
 * @throws Error with a message of one line when there are any
 */
export async function verifyCluster(args: readonly string[]): Promise<void> {
  const { values, others } = takeFlags(args, sourceFlags);
  const { storage, api } = parseOptions(others);
  const progress = new Progress();
  const say = (line: string): void => progress.say(line);
  const shapes = new Shapes({ minor: api.emulated });
  const source = openSource(values, { shapes, signal: stopSignal(), say });
  const target = await openTarget(storage, { emulated: api.emulated, say });
  try {
    const live = await target.index();
    await learnDefinitions(shapes, live, target);
    const comparison = new Comparison({ target, live, progress });
    for await (const { label, objects, remaining } of source.read()) {
      progress.begin(label, remaining < 0 ? 0 : objects.length + remaining);
      progress.add(objects.length);
      for (const object of objects) await comparison.compare(object, shapes);
    }
    progress.end();
    for (const { name, reason } of source.unread) comparison.differ(`cannot be compared: ${name}: ${reason}`);
    if (source.unread.length === 0) await comparison.findOthers(source);
    comparison.reportNamesakes();
    for (const line of source.leftOut) progress.tell(`not compared: ${line}`);
    const { same, different } = comparison;
    progress.tell(`${count(same)} are the same, ${count(different)} differ`);
    if (different > 0) throw new Error(`objects that differ: ${count(different)}, as above`);
  } finally {
    progress.end();
    await source.close();
    await target.close();
  }
}

const count = (objects: number): string => objects.toLocaleString('en-US');

interface ComparisonParts {
  readonly target: Target;
  readonly live: ReadonlyMap<string, Live>;
  readonly progress: Progress;
}

/** What two objects of one name differ in, always. */
const OF_EACH = /^metadata\.(uid|creationTimestamp|generation|managedFields)\b/;

class Comparison {
  same = 0;
  different = 0;
  readonly #target: Target;
  readonly #live: ReadonlyMap<string, Live>;
  readonly #progress: Progress;
  /** Names of what the source has. */
  readonly #seen = new Set<string>();
  /** Names that another object of the target has, with a uid of its own. */
  readonly #namesakes: string[] = [];

  constructor({ target, live, progress }: ComparisonParts) {
    this.#target = target;
    this.#live = live;
    this.#progress = progress;
  }

  async compare(given: SourceObject, shapes: Shapes): Promise<void> {
    const shaped = shapes.take(given);
    if (shaped instanceof Refused) return this.differ(`cannot be compared: ${shaped.name}: ${shaped.reason}`);
    const name = describe(shaped.key);
    const live = this.#live.get(name);
    this.#seen.add(name);
    if (shaped.own !== undefined) return;
    if (live === undefined) return this.differ(`only in the source: ${name}`);
    if (live.digest === shaped.digest) this.same += 1;
    else await this.#explain(name, shaped, live);
    shaped.giveBack();
  }

  async #explain(name: string, { object, isNew }: Shaped, { key }: Live): Promise<void> {
    const stored = await this.#target.get(key);
    if (stored === undefined) return this.differ(`only in the source: ${name}`);
    const all = [...differencesOf(object, parseStored(stored.json))].filter(
      ({ path }) => !isNew || (path !== 'metadata.uid' && path !== 'metadata.creationTimestamp'),
    );
    if (all.length === 0) {
      this.same += 1;
      return;
    }
    const isNamesake = all.some(({ path }) => path === 'metadata.uid');
    if (isNamesake) this.#namesakes.push(name);
    const shown = isNamesake ? all.filter(({ path }) => !OF_EACH.test(path)) : all;
    this.different += 1;
    if (shown.length > 0) this.#show(name, key, shown);
  }

  #show(name: string, key: Live['key'], all: readonly Difference[]): void {
    const tell = (line: string): void => this.#progress.tell(line);
    tell(`differs: ${name}`);
    const isSecret = key.group === '' && key.resource === 'secrets';
    for (const { path, source, target } of all.slice(0, MOST_SHOWN))
      tell(
        isSecret
          ? `    ${path}`
          : `    ${path}: ${toText(source)} in the source, ${toText(target)} in the target`,
      );
    if (all.length > MOST_SHOWN) tell(`    and ${all.length - MOST_SHOWN} more`);
  }

  /** Says in one line which objects are not those of the source: a served cluster has a hundred of its own. */
  reportNamesakes(): void {
    if (this.#namesakes.length > 0)
      this.#progress.tell(
        `the target has another object, with another uid: ${nameSome(this.#namesakes)}: ${importOnlyFlags.replace.shown} of import puts those of the source in their place`,
      );
  }

  /** Reports objects that only the target has. */
  async findOthers(source: Source): Promise<void> {
    const others = await findOthers(this.#live, this.#seen, { source, target: this.#target });
    for (const { key } of others) this.differ(`only in the target: ${describe(key)}`);
  }

  differ(line: string): void {
    this.different += 1;
    this.#progress.tell(line);
  }
}

function toText(value: JsonValue | undefined): string {
  if (value === undefined) return 'absent';
  const whole = JSON.stringify(value);
  return whole.length > MOST_TEXT ? `${whole.slice(0, MOST_TEXT)}…` : whole;
}
