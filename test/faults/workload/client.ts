import type { Item, Operation, OperationKind, Outcome } from '../judge/record.ts';
import type { Random } from '../random.ts';
import { sleep } from '../world/until.ts';
import { type Answer, type Caller, NotSent, type Question } from './http.ts';
import { NAMESPACE, PATH } from './keys.ts';

const KINDS: readonly OperationKind[] = [
  ...(['create', 'create', 'update', 'update', 'update', 'patch', 'patch', 'delete'] as const),
  ...(['get', 'get', 'list'] as const),
];
/** Between one operation and the next of a client: at least, at most. */
export type Pause = readonly [number, number];

/** One client: one operation after the other, on any key, at any server. */
export class Client {
  readonly operations: Operation[] = [];
  readonly #name: string;
  readonly #callers: readonly Caller[];
  readonly #keys: readonly string[];
  readonly #random: Random;
  readonly #pauseMs: Pause;
  /** The newest state it knows, by key: what guarded writes go on from. */
  readonly #known = new Map<string, bigint>();
  #count = 0;

  constructor(options: {
    name: string;
    callers: readonly Caller[];
    keys: readonly string[];
    random: Random;
    pauseMs: Pause;
  }) {
    this.#name = options.name;
    this.#callers = options.callers;
    this.#keys = options.keys;
    this.#random = options.random;
    this.#pauseMs = options.pauseMs;
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#next();
      await sleep(this.#random.between(...this.#pauseMs));
    }
  }

  async #next(): Promise<void> {
    const caller = this.#random.pick(this.#callers);
    const key = this.#random.pick(this.#keys);
    const wanted = this.#random.pick(KINDS);
    const known = this.#known.get(key);
    // What is guarded needs to know what it replaces.
    const isGuarded = wanted === 'update' || wanted === 'delete';
    const kind = isGuarded && known === undefined ? 'get' : wanted;
    const id = `${this.#name}-${++this.#count}`;
    const expected = kind === 'update' || kind === 'delete' ? known : undefined;
    const invokedMs = performance.now();
    const outcome = await caller
      .ask(questionOf(kind, key, id, expected))
      .then((answer) => readAnswer(kind, answer), readFailure);
    this.#learn(kind, key, outcome);
    this.operations.push({
      ...{ id, kind, server: caller.index, key: kind === 'list' ? '' : key },
      ...{ invokedMs, completedMs: performance.now(), outcome },
      ...(expected === undefined ? {} : { expected }),
    });
    // From a server that is gone, the next failure would come at once too.
    if (outcome.kind === 'unknown' || outcome.kind === 'not sent') await sleep(50);
  }

  #learn(kind: OperationKind, key: string, outcome: Outcome): void {
    if (outcome.kind === 'listed') {
      this.#known.clear();
      for (const item of outcome.items) this.#known.set(item.key, item.revision);
    } else if (kind === 'list') return;
    else if (outcome.kind === 'found') this.#known.set(key, outcome.revision);
    else if (outcome.kind === 'written' && outcome.revision !== undefined)
      this.#known.set(key, outcome.revision);
    // What was lost is gone on with all the same, now and then: a number of a lost history must mean nothing.
    else if (outcome.kind !== 'unknown') this.#known.delete(key);
  }
}

function questionOf(kind: OperationKind, key: string, id: string, expected: bigint | undefined): Question {
  const headers = { 'user-agent': id };
  const metadata = { name: key, namespace: NAMESPACE };
  const guard = expected?.toString();
  const object = {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata,
    spec: { holderIdentity: id },
  };
  const one = `${PATH}/${key}`;
  switch (kind) {
    case 'create':
      return { method: 'POST', path: PATH, body: object, headers };
    case 'update': {
      const body = { ...object, metadata: { ...metadata, resourceVersion: guard } };
      return { method: 'PUT', path: one, body, headers };
    }
    case 'patch':
      return {
        ...{ method: 'PATCH', path: one, body: { spec: { holderIdentity: id } } },
        headers: { ...headers, 'content-type': 'application/merge-patch+json' },
      };
    case 'delete':
      return { method: 'DELETE', path: one, body: { preconditions: { resourceVersion: guard } }, headers };
    case 'get':
      return { method: 'GET', path: one, headers };
    case 'list':
      return { method: 'GET', path: PATH, headers };
  }
}

export interface Stored {
  readonly metadata: { readonly name: string; readonly resourceVersion: string };
  readonly spec?: { readonly holderIdentity?: string };
}

export const toItem = ({ metadata, spec }: Stored): Item => ({
  key: metadata.name,
  revision: BigInt(metadata.resourceVersion),
  op: spec?.holderIdentity ?? '',
});

function readAnswer(kind: OperationKind, { code, retryAfter, text }: Answer): Outcome {
  if (code === 404 && kind === 'get') return { kind: 'absent' };
  if (code >= 400 && code < 500) return { kind: 'refused', why: String(code) };
  // A client repeats what it is asked to repeat: so nothing may have happened.
  if (code >= 500)
    return retryAfter === undefined
      ? { kind: 'unknown', why: `${code} ${reasonOf(text)}` }
      : { kind: 'refused', why: `${code} with Retry-After` };
  const answer: Stored & { readonly items?: readonly Stored[] } = JSON.parse(text);
  if (kind === 'list')
    return {
      kind: 'listed',
      revision: BigInt(answer.metadata.resourceVersion),
      items: (answer.items ?? []).map(toItem),
    };
  if (kind === 'get') return { ...toItem(answer), kind: 'found' };
  const revision = kind === 'delete' ? undefined : BigInt(answer.metadata.resourceVersion);
  return { kind: 'written', revision };
}

function readFailure(error: unknown): Outcome {
  const why = error instanceof Error ? error.message : String(error);
  return { kind: error instanceof NotSent ? 'not sent' : 'unknown', why };
}

function reasonOf(text: string): string {
  try {
    return String(JSON.parse(text).message).slice(0, 120);
  } catch {
    return '';
  }
}
