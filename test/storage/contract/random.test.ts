// @module-tag long
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { StorageError } from '../../../src/storage/errors.ts';
import type { Scope } from '../../../src/storage/key.ts';
import { NO_REVISION, type Revision } from '../../../src/storage/revision.ts';
import type { WriteVerb } from '../../../src/storage/revision-log.ts';
import type {
  Encoding,
  EventStream,
  ListFreshness,
  ListPage,
  ListQuery,
  WatchQuery,
} from '../../../src/storage/store.ts';
import { Reader } from '../watch-cache/kit.ts';
import {
  create,
  hasData,
  inGroup,
  LATEST,
  newResource,
  SUBJECTS,
  type Subject,
  show,
  toWrite,
} from './subjects.ts';

/** Random commands to the reference and to the stores over PostgreSQL: all answer the same. */

const OBJECTS = ['a', 'b'].flatMap((namespace) => ['x', 'y', 'z'].map((name) => [namespace, name] as const));

type Command =
  | {
      readonly kind: 'write';
      readonly verb: WriteVerb;
      readonly at: Scope;
      readonly data: string;
      readonly back: number;
      readonly holds: string;
    }
  | { readonly kind: 'get'; readonly at: Scope }
  | {
      readonly kind: 'list';
      readonly scope: Scope;
      readonly select: string;
      readonly limit: number;
      readonly back: number;
      readonly freshness: ListFreshness['kind'];
    }
  | {
      readonly kind: 'watch';
      readonly scope: Scope;
      readonly select: string;
      readonly back: number;
      readonly state: boolean;
    }
  | { readonly kind: 'fill' | 'drain'; readonly watch: number }
  | { readonly kind: 'forget' | 'compact' };

const namespace = fc.constantFrom('a', 'b');
const name = fc.constantFrom('x', 'y', 'z');
const data = fc.constantFrom('in', 'out');
const at = fc.record({ namespace, name });
const scope = fc.oneof(fc.constant({}), fc.record({ namespace }), fc.record({ name }), at);
/** How many commits ago. Mostly none: what is expected is mostly right. */
const back = fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, fc.nat(12));
const select = fc.constantFrom('', '', 'in', 'indexed');

const command: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      kind: fc.constant('write' as const),
      verb: fc.constantFrom<WriteVerb>('create', 'create', 'update', 'update', 'delete'),
      at,
      data,
      back,
      holds: fc.constantFrom('', '', '1', '2'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('get' as const), at }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('list' as const),
      ...{ scope, select, back, limit: fc.nat(3) },
      freshness: fc.constantFrom<ListFreshness['kind']>('latest', 'any', 'not-older', 'exact', 'exact'),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('watch' as const),
      ...{ scope, select, back },
      state: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constantFrom('fill' as const, 'drain' as const), watch: fc.nat(5) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('forget' as const, 'compact' as const) }) },
);

/** Revisions in texts are written `#12`. */
const REVISION = /#(\d+)/g;

const EVENTS: Encoding = {
  id: 'events',
  encode: ({ type, entry, revision }) =>
    Buffer.from(`${type} ${show(entry)} of #${entry.revision} at #${revision}`),
};

interface Watch {
  readonly reader: Reader;
  /** How it ended. */
  readonly over: Promise<string>;
  readonly covers: (object: string) => boolean;
  isOver: boolean;
}

/** One store in one run. A revision is written as the number of commits up to it: two stores number their revisions differently. */
class Session {
  readonly subject: Subject;
  readonly watches: Watch[] = [];
  readonly #resource = newResource();
  readonly #stop = new AbortController();
  readonly #revisions: Revision[] = [];

  private constructor(subject: Subject) {
    this.subject = subject;
  }

  static async begin(subject: Subject): Promise<Session> {
    const session = new Session(subject);
    session.#revisions.push(await create(subject.store, { resource: newResource(), name: 'seed' }));
    return session;
  }

  /** The answer to a command, as text. */
  async run(command: Command): Promise<string> {
    const { store } = this.subject;
    switch (command.kind) {
      case 'write':
        return this.#write(command);
      case 'get': {
        const entry = await store.get(toWrite('create', this.#target(command.at)).key, LATEST);
        return this.#numbered(entry === undefined ? 'none' : `${show(entry)} of #${entry.revision}`);
      }
      case 'list':
        return this.#list(command);
      case 'watch':
        return this.#watch(command);
      case 'fill':
        this.#reader(command.watch, (reader) => {
          reader.full = true;
        });
        return 'full';
      case 'drain':
        this.#reader(command.watch, (reader) => reader.drain());
        return 'drained';
      case 'forget':
      case 'compact':
        await this.subject[command.kind]();
        return 'done';
      default:
        return command satisfies never;
    }
  }

  /** Writes every object once more, so that every watch has a last event, and waits until it has come. */
  async finish(): Promise<void> {
    const last = new Map<string, string>();
    for (const [namespace, name] of OBJECTS) {
      const target = this.#target({ namespace, name });
      const expected = (await this.subject.store.get(toWrite('create', target).key, LATEST))?.revision;
      const verb = expected === undefined ? 'create' : 'update';
      const write = toWrite(verb, target, { data: 'in', ...(expected === undefined ? {} : { expected }) });
      last.set(`${namespace}/${name}`, `at #${await this.subject.store.commit(write)}`);
    }
    for (const watch of this.watches) watch.reader.drain();
    for (const watch of this.watches) {
      const inScope = [...last].filter(([object]) => watch.covers(object)).map(([, text]) => text);
      const isDone = (): boolean =>
        watch.isOver || watch.reader.lines.at(-1)?.endsWith(inScope.at(-1) ?? '') === true;
      await vi.waitFor(() => expect(isDone()).toBe(true), { timeout: 60_000, interval: 2 });
    }
  }

  /** The events of each watch, and how it ended. */
  async end(): Promise<{ readonly lines: string[]; readonly over: string }[]> {
    this.#stop.abort();
    const reported = [];
    for (const { reader, over } of this.watches)
      reported.push({ lines: reader.lines.map((line) => this.#numbered(line)), over: await over });
    return reported;
  }

  #numbered(text: string): string {
    return text.replace(REVISION, (_, revision: string) =>
      String(this.#revisions.findLastIndex((known) => known <= BigInt(revision))),
    );
  }

  async #write({ verb, at, data, back, holds }: Command & { kind: 'write' }): Promise<string> {
    const target = this.#target(at);
    const live = await this.subject.store.get(toWrite(verb, target).key, LATEST);
    const expected = back === 0 ? (live?.revision ?? this.#ago(0)) : this.#ago(back);
    const values = holds === '' ? [] : [{ pool: this.#resource, value: holds, kept: false }];
    const more = { data, holds: verb === 'delete' ? [] : values, ...(verb === 'create' ? {} : { expected }) };
    try {
      this.#revisions.push(await this.subject.store.commit(toWrite(verb, target, more)));
      return `made ${this.#revisions.length - 1}`;
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
      const { failure } = error;
      return this.#numbered(`${failure.kind} ${'current' in failure ? `#${failure.current}` : ''}`);
    }
  }

  /** All pages: they end, none is too long, and those that say how many follow are right. */
  async #list({ scope, select, limit, back, freshness: kind }: Command & { kind: 'list' }): Promise<string> {
    const { store } = this.subject;
    // These may be answered by any state that is known, or any newer one.
    if (kind === 'any' || kind === 'not-older') await this.subject.caughtUp();
    const revision = this.#ago(back);
    const freshness = kind === 'exact' || kind === 'not-older' ? { kind, revision } : { kind };
    const query: ListQuery = {
      resource: inGroup(this.#resource),
      scope,
      freshness,
      limit,
      ...selection(select),
    };
    const pages: ListPage[] = [];
    try {
      let page = await store.list(query);
      pages.push(page);
      while (page.next !== undefined) {
        page = await store.list({
          ...query,
          freshness: { kind: 'exact', revision: page.revision },
          after: page.next,
        });
        pages.push(page);
      }
    } catch (error) {
      return toFailure(error);
    }
    const sizes = pages.map(({ entries }) => entries.length);
    for (const [at, { entries, remaining }] of pages.entries()) {
      if (limit > 0) expect(entries.length).toBeLessThanOrEqual(limit);
      const left = sizes.slice(at + 1).reduce((sum, size) => sum + size, 0);
      if (remaining !== undefined) expect(remaining).toBe(left);
      else if (left > 0) expect(select !== '' || 'name' in scope).toBe(true);
    }
    const lines = pages
      .flatMap(({ entries }) => entries)
      .map((entry) => `${show(entry)} of #${entry.revision}`);
    return this.#numbered([...lines, `at #${pages[0]?.revision}`].join(', '));
  }

  async #watch({ scope, select, back, state }: Command & { kind: 'watch' }): Promise<string> {
    const start: WatchQuery['start'] = state
      ? { kind: 'state', freshness: LATEST }
      : { kind: 'after', revision: this.#ago(back) };
    const query = { resource: inGroup(this.#resource), scope, start, bookmarks: false, ...selection(select) };
    const reader = new Reader(EVENTS);
    let events: EventStream;
    try {
      events = await this.subject.store.watch(query, this.#stop.signal);
    } catch (error) {
      return toFailure(error);
    }
    const over = events.deliver(reader.take).then(() => 'stopped', toFailure);
    const covers = (object: string): boolean => {
      const [namespace, name] = object.split('/');
      return [scope.namespace ?? namespace, scope.name ?? name].join('/') === object;
    };
    const watch: Watch = { reader, over, covers, isOver: false };
    void over.then(() => {
      watch.isOver = true;
    });
    this.watches.push(watch);
    const isBegun = (): boolean =>
      !state || reader.lines.some((line) => line.startsWith('INITIAL_EVENTS_END'));
    await vi.waitFor(() => expect(isBegun()).toBe(true), { timeout: 60_000, interval: 2 });
    return 'begun';
  }

  #reader(watch: number, change: (reader: Reader) => void): void {
    const reader = this.watches[watch]?.reader;
    if (reader !== undefined) change(reader);
  }

  #target({ namespace = '', name = '' }: Scope) {
    return { resource: this.#resource, namespace, name };
  }

  #ago(commits: number): Revision {
    return this.#revisions.at(-1 - commits) ?? this.#revisions[0] ?? NO_REVISION;
  }
}

const toFailure = (error: unknown): string => {
  if (error instanceof StorageError) return error.failure.kind;
  throw error;
};

function selection(select: string): Pick<ListQuery, 'matches' | 'sought'> {
  if (select === '') return {};
  return {
    matches: hasData('in'),
    sought: select === 'in' ? [] : [{ of: 'field', name: 'data', value: 'in' }],
  };
}

let subjects: Subject[] = [];

beforeAll(async () => {
  subjects = await Promise.all(SUBJECTS.map(([, open]) => open()));
});

afterAll(async () => {
  for (const subject of subjects) await subject[Symbol.asyncDispose]();
});

async function compare(commands: readonly Command[]): Promise<void> {
  const sessions = await Promise.all(subjects.map((subject) => Session.begin(subject)));
  for (const command of commands) {
    const [right, ...answers] = await Promise.all(sessions.map((session) => session.run(command)));
    for (const answer of answers) expect(answer).toBe(right);
  }
  await Promise.all(sessions.map((session) => session.finish()));
  const [right = [], ...others] = await Promise.all(sessions.map((session) => session.end()));
  for (const reported of others) {
    expect(reported.map(({ over }) => over)).toEqual(right.map(({ over }) => over));
    for (const [at, { lines, over }] of reported.entries()) {
      const wanted = right[at]?.lines ?? [];
      // One that was cut off may have been cut off earlier than the other.
      const length = over === 'stopped' ? undefined : Math.min(lines.length, wanted.length);
      expect(lines.slice(0, length)).toEqual(wanted.slice(0, length));
    }
  }
}

async function compareOn(sequences: { readonly seed: number; readonly numRuns: number }): Promise<void> {
  const commands = fc.array(command, { minLength: 5, maxLength: 60, size: 'max' });
  await fc.assert(fc.asyncProperty(commands, compare), { ...sequences, endOnFailure: false });
}

test('on every sequence of requests, the stores over PostgreSQL answer as the reference does', async () => {
  await compareOn({ seed: 12, numRuns: 5 });
});

test('so they do on five times as many sequences', { tags: 'long' }, async () => {
  await compareOn({ seed: 13, numRuns: 25 });
});
