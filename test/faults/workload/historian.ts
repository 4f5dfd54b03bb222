import type { Blamed, Filter, Finding, HistoryAnswer, HistoryRow, Operation, Past } from '../judge/record.ts';
import type { Random } from '../random.ts';
import { sleep } from '../world/until.ts';
import { toItem } from './client.ts';
import type { Answer, Caller } from './http.ts';
import { PATH } from './keys.ts';
import { HISTORY, pathOf, referenceTo, revisionsOf, toHistoryRow, toTimelineRow } from './sources.ts';

/** Between one question and the next. */
const PAUSE_MS = [20, 150] as const;
/** Between pages, so that others write and compaction runs meanwhile. */
const PAGE_PAUSE_MS = [0, 60] as const;
const LIMIT = [3, 60] as const;
/** Pages of one list. Most of them end before history does. */
const PAGES = [2, 12] as const;
/** How far back moments lie that are asked about. */
const BACK_MS = [0, 6000] as const;
const VERBS = ['create', 'update', 'delete'] as const;
/** Revisions that are remembered, to be asked about. */
const KNOWN = 200;
/** The field in which each write leaves its id. */
const BLAMED_PATH = 'spec.holderIdentity';

type Page = { readonly code: number; readonly text: string };

/** Asks what was, any server: who wrote what, what was there then, and who has set it. */
export class Historian {
  readonly answers: HistoryAnswer[] = [];
  readonly pasts: Past[] = [];
  readonly blames: Blamed[] = [];
  /** Blames, as the reads of objects that they are too. */
  readonly operations: Operation[] = [];
  readonly findings: Finding[] = [];
  readonly #name: string;
  readonly #callers: readonly Caller[];
  readonly #keys: readonly string[];
  readonly #random: Random;
  readonly #known: bigint[] = [];
  #count = 0;

  constructor(options: {
    name: string;
    callers: readonly Caller[];
    keys: readonly string[];
    random: Random;
  }) {
    this.#name = options.name;
    this.#callers = options.callers;
    this.#keys = options.keys;
    this.#random = options.random;
  }

  async run(signal: AbortSignal): Promise<void> {
    const questions = [
      () => this.#list(signal),
      () => this.#timeline(signal),
      () => this.#asOfRevision(signal),
      () => this.#asOfMoment(signal),
      () => this.#blame(signal),
    ];
    while (!signal.aborted) {
      this.#count += 1;
      await this.#random.pick(questions)();
      await sleep(this.#random.between(...PAUSE_MS));
    }
  }

  get #id(): string {
    return `${this.#name}-${this.#count}`;
  }

  /** Undefined: nothing that says anything. */
  async #ask(path: string, signal: AbortSignal, caller = this.#random.pick(this.#callers)): Promise<Page> {
    const question = { method: 'GET', path, headers: { 'user-agent': this.#id } };
    const answer = await caller.ask(question, signal).catch((): Answer => FAILED);
    const { code, text } = answer;
    const isExpected = code >= 500 || EXPECTED.has(code);
    if (!isExpected) {
      const facts = `${this.#id}: ${path} was answered with ${code} ${text.slice(0, 200)}`;
      this.findings.push({ rule: 'questions about history are answered', facts });
    }
    return { code, text };
  }

  async #list(signal: AbortSignal): Promise<void> {
    const filter: Filter = {
      ...(this.#random.next() < 0.4 ? { key: this.#random.pick(this.#keys) } : {}),
      ...(this.#random.next() < 0.3 ? { verb: this.#random.pick(VERBS) } : {}),
    };
    const source = revisionsOf(filter);
    await this.#readPages({ what: 'revisions', filter }, signal, (limit, goesOn) =>
      pathOf(source, { limit, ...(goesOn === undefined ? {} : { continue: goesOn }) }),
    );
  }

  async #timeline(signal: AbortSignal): Promise<void> {
    const key = this.#random.pick(this.#keys);
    const path = `${HISTORY}/timelines/${referenceTo(key)}`;
    await this.#readPages({ what: 'timeline', filter: { key } }, signal, (limit, goesOn) =>
      pathOf({ path, fieldSelector: '' }, { limit, ...(goesOn === undefined ? {} : { continue: goesOn }) }),
    );
  }

  async #readPages(
    head: Pick<HistoryAnswer, 'what' | 'filter'>,
    signal: AbortSignal,
    toPath: (limit: string, goesOn: string | undefined) => string,
  ): Promise<void> {
    const invokedMs = performance.now();
    const rows: HistoryRow[] = [];
    let revision: bigint | undefined;
    let end: HistoryAnswer['end'] = 'failed';
    let goesOn: string | undefined;
    for (let pages = this.#random.between(...PAGES); pages > 0; pages -= 1) {
      const limit = String(this.#random.between(...LIMIT));
      const { code, text } = await this.#ask(toPath(limit, goesOn), signal);
      if (code === 410) end = 'gone';
      if (code !== 200) break;
      const page: ListPage = JSON.parse(text);
      revision ??= BigInt(page.metadata.resourceVersion);
      rows.push(...(page.items ?? []).map(toHistoryRow), ...(page.entries ?? []).map(toTimelineRow));
      goesOn = page.continue ?? (page.metadata.continue || undefined);
      if (goesOn === undefined) {
        end = 'all';
        break;
      }
      await sleep(this.#random.between(...PAGE_PAUSE_MS));
    }
    if (revision === undefined) return;
    this.#remember(rows);
    const completedMs = performance.now();
    this.answers.push({ ...head, name: this.#id, invokedMs, completedMs, revision, rows, end });
  }

  #remember(rows: readonly HistoryRow[]): void {
    this.#known.push(...rows.map(({ revision }) => revision));
    if (this.#known.length > KNOWN) this.#known.splice(0, this.#known.length - KNOWN);
  }

  async #asOfRevision(signal: AbortSignal): Promise<void> {
    if (this.#known.length > 0) await this.#past({ revision: this.#random.pick(this.#known) }, signal);
  }

  async #asOfMoment(signal: AbortSignal): Promise<void> {
    await this.#past({ atMs: Math.floor(Date.now()) - this.#random.between(...BACK_MS) }, signal);
  }

  async #past(asOf: Past['asOf'], signal: AbortSignal): Promise<void> {
    const invokedMs = performance.now();
    const text = 'revision' in asOf ? String(asOf.revision) : new Date(asOf.atMs).toISOString();
    const answer = await this.#ask(pathOf({ path: PATH, fieldSelector: '' }, { asOf: text }), signal);
    if (answer.code !== 200 && answer.code !== 410) return;
    const timing = { invokedMs, completedMs: performance.now() };
    const list: ListPage = JSON.parse(answer.text);
    const outcome: Past['outcome'] =
      answer.code === 410
        ? { kind: 'gone' }
        : {
            kind: 'listed',
            revision: BigInt(list.metadata.resourceVersion),
            items: (list.items ?? []).map(toItem),
          };
    this.pasts.push({ name: this.#id, asOf, ...timing, outcome });
  }

  async #blame(signal: AbortSignal): Promise<void> {
    const key = this.#random.pick(this.#keys);
    const caller = this.#random.pick(this.#callers);
    const invokedMs = performance.now();
    const { code, text } = await this.#ask(`${HISTORY}/blames/${referenceTo(key)}`, signal, caller);
    if (code !== 200 && code !== 404) return;
    const head = { id: this.#id, kind: 'get', server: caller.index, key, invokedMs } as const;
    const completedMs = performance.now();
    if (code === 404) {
      this.operations.push({ ...head, completedMs, outcome: { kind: 'absent' } });
      return;
    }
    const blame: BlameObject = JSON.parse(text);
    const field = blame.fields.find(({ path }) => path === BLAMED_PATH);
    const revision = BigInt(blame.revision);
    const op = field?.value ?? '';
    this.operations.push({ ...head, completedMs, outcome: { kind: 'found', revision, op } });
    const setBy =
      field?.revision === undefined
        ? undefined
        : { revision: BigInt(field.revision), user: field.user ?? '' };
    this.blames.push({ name: `${this.#id}, ${key}`, revision, op, setBy });
  }
}

const FAILED: Answer = { code: 599, retryAfter: undefined, text: '' };
/** Besides failures. 404: there was no such object. */
const EXPECTED: ReadonlySet<number> = new Set([200, 404, 410, 429]);

interface ListPage {
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string };
  readonly items?: readonly never[];
  readonly entries?: readonly never[];
  readonly continue?: string;
}

interface BlameObject {
  readonly revision: string;
  readonly fields: readonly {
    readonly path: string;
    readonly value?: string;
    readonly revision?: string;
    readonly user?: string;
  }[];
}
