import { Pace } from '../../util/concurrency.ts';
import type { Stored, Target } from './kinds.ts';
import type { Ending, Ownership, Reference } from './ownership.ts';

const NO_REFERENCES: readonly Reference[] = Object.freeze([]);

/** Where an object is. */
export interface Place {
  readonly resource: Stored;
  /** '' for what is cluster-scoped. */
  readonly namespace: string;
  readonly name: string;
}

/**
 * An object that has owners, is an owner, or waits for the collector. About 200 bytes: a cluster of a million pods has a million
 * of them, so that what only few have is made when it is needed, and strings are those of the cache.
 */
export class Node {
  readonly uid: string;
  /** Undefined for an owner that has not been seen: it may exist, or not any more. */
  place: Place | undefined;
  references: readonly Reference[] = NO_REFERENCES;
  ending: Ending = 'no';
  /** It was deleted. What is left of it are its dependents. */
  isGone = false;
  /** Its dependents have become due, all of them. */
  spreads = false;
  /** Nothing can be said about it before other kinds are served. */
  isPostponed = false;
  /** How many dependents block its deletion in the foreground. */
  blockers = 0;
  dependents: Set<Node> | undefined;
  /** Where it is not, of an owner that has not been seen. */
  absentAt: Place[] | undefined;

  constructor(uid: string) {
    this.uid = uid;
  }
}

export interface GraphOptions {
  /** Where the objects of a kind are; undefined for a kind that was never served. */
  readonly find: (reference: Reference) => Target | undefined;
  /** Something may be to be done about a node. */
  readonly due: (node: Node) => void;
  /** A reference leads to an object of another namespace. */
  readonly onForeign: (dependent: Node, reference: Reference) => void;
}

/** What a reference of an object means at this moment. */
export type Standing =
  /** The owner is there. */
  | 'solid'
  /** The owner is not there, and never will be. */
  | 'dangling'
  /** The owner is there, and is gone once its dependents are. */
  | 'waiting'
  /** The owner must be looked for. */
  | 'unknown'
  /** Of a kind that is not served, or that an object without a namespace cannot refer to: nobody can say, and nothing is done. */
  | 'undecided';

/**
 * Who owns whom, by uid. It is told of every change in the turn in which the watch cache applies it, so that it is exactly as new
 * as the cache. It says which objects have become due; what is to be done about them is decided when it is their turn.
 */
export class Graph {
  readonly #options: GraphOptions;
  readonly #nodes = new Map<string, Node>();

  constructor(options: GraphOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#nodes.size;
  }

  find(uid: string): Node | undefined {
    return this.#nodes.get(uid);
  }

  /** The newest state of an object. One that has no owners, is none, and waits for nothing gets no node. */
  observe(uid: string, place: Place, { references, ending }: Ownership): void {
    let node = this.#nodes.get(uid);
    if (node === undefined) {
      if (references.length === 0 && !isWaiting(ending)) return;
      node = this.#add(uid);
    }
    if (node.isGone) return;
    const isNew = node.place === undefined;
    node.place = place;
    node.absentAt = undefined;
    if (isNew) for (const dependent of node.dependents ?? []) this.#compare(dependent, node);
    this.#refer(node, references);
    this.#end(node, ending);
    this.#dropIfIdle(node);
  }

  /** An object is gone. Nobody may have looked yet where it was. */
  remove(uid: string, place: Place): void {
    const node = this.#nodes.get(uid);
    if (node === undefined) return;
    this.#refer(node, NO_REFERENCES);
    node.place = place;
    node.isGone = true;
    node.ending = 'no';
    if (node.dependents === undefined) this.#nodes.delete(uid);
    else this.#spread(node);
  }

  /** An owner that has not been seen was looked for, and is not there. */
  noteAbsence(node: Node, place: Place): void {
    node.absentAt = [...(node.absentAt ?? []), place];
    this.#spread(node);
  }

  standingOf(dependent: Node, reference: Reference): Standing {
    const owner = this.#nodes.get(reference.uid);
    const target = this.#options.find(reference);
    const place = target === undefined ? undefined : toPlace(dependent, reference, target);
    if (place === undefined) return 'undecided';
    if (owner?.place !== undefined && isSame(owner.place, place)) {
      if (owner.isGone) return 'dangling';
      return owner.ending === 'foreground' ? 'waiting' : 'solid';
    }
    if (target?.isServed !== true) return 'undecided';
    // It is elsewhere, or was.
    if (owner?.place !== undefined) return 'dangling';
    return owner?.absentAt?.some((absent) => isSame(absent, place)) === true ? 'dangling' : 'unknown';
  }

  /** Where to look for an owner. `place`: undefined for an object in no namespace that refers to one in some. */
  whereIs(
    dependent: Node,
    reference: Reference,
  ): { readonly resource: Stored; readonly place: Place | undefined } | undefined {
    const target = this.#options.find(reference);
    if (target?.isServed !== true) return undefined;
    return { resource: target.resource, place: toPlace(dependent, reference, target) };
  }

  /**
   * Whether an object that is deleted in the foreground waits, by way of others, for itself. It is looked for from both sides, a step on
   * each in turn, until one side has ended: the end of a long chain of owners is near to what has become due, because deletions
   * begin at one end of it.
   */
  async waitsForItself(node: Node): Promise<boolean> {
    const pace = new Pace();
    const up = walk(node, (from) => this.#blocked(from));
    const down = walk(node, blocking);
    for (;;) {
      if (pace.isOver()) await pace.rest();
      for (const side of [up, down]) {
        const { value, done } = side.next();
        if (done === true) return false;
        if (value === node) return true;
      }
    }
  }

  /** The owners that wait for an object. */
  *#blocked({ references }: Node): Iterable<Node> {
    for (const { uid, blocks } of references) {
      const owner = blocks ? this.#nodes.get(uid) : undefined;
      if (owner?.ending === 'foreground') yield owner;
    }
  }

  #add(uid: string): Node {
    const node = new Node(uid);
    this.#nodes.set(uid, node);
    return node;
  }

  #end(node: Node, ending: Ending): void {
    if (node.ending === ending) return;
    node.ending = ending;
    if (ending === 'foreground') this.#spread(node);
    else if (ending === 'orphan') this.#options.due(node);
  }

  #spread(node: Node): void {
    node.spreads = true;
    this.#options.due(node);
  }

  #refer(node: Node, references: readonly Reference[]): void {
    const before = node.references;
    if (before === references || (before.length === 0 && references.length === 0)) return;
    node.references = references;
    for (const uid of uidsOf(before)) if (!refersTo(references, uid)) this.#unlink(node, uid, before);
    for (const uid of uidsOf(references)) this.#link(node, uid, before);
    if (node.isPostponed) this.#options.due(node);
  }

  #link(node: Node, uid: string, before: readonly Reference[]): void {
    const owner = this.#nodes.get(uid) ?? this.#add(uid);
    owner.dependents ??= new Set();
    owner.dependents.add(node);
    const blocks = isBlocking(node.references, uid);
    this.#countBlocker(owner, Number(blocks) - Number(isBlocking(before, uid)));
    if (blocks && node.ending === 'foreground') this.#options.due(node);
    if (!hasSame(before, node.references, uid)) this.#compare(node, owner);
  }

  #unlink(node: Node, uid: string, before: readonly Reference[]): void {
    const owner = this.#nodes.get(uid);
    if (owner === undefined) return;
    owner.dependents?.delete(node);
    if (owner.dependents?.size === 0) owner.dependents = undefined;
    this.#countBlocker(owner, -Number(isBlocking(before, uid)));
    this.#dropIfIdle(owner);
  }

  #countBlocker(owner: Node, change: number): void {
    if (change === 0) return;
    owner.blockers += change;
    if (owner.blockers === 0 && owner.ending === 'foreground') this.#options.due(owner);
  }

  #dropIfIdle({ uid, references, dependents, ending }: Node): void {
    if (references.length === 0 && dependents === undefined && !isWaiting(ending)) this.#nodes.delete(uid);
  }

  /** Finds out whether a dependent, or its owner, must be looked at. */
  #compare(dependent: Node, owner: Node): void {
    const references = dependent.references.filter(({ uid }) => uid === owner.uid);
    const standings = references.map((reference) => this.standingOf(dependent, reference));
    const isOpen = owner.place === undefined && !owner.isPostponed && standings.includes('undecided');
    if (isOpen || standings.includes('unknown')) {
      this.#options.due(owner);
    } else if (standings.some((standing) => standing !== 'solid')) this.#options.due(dependent);
    const [first] = references;
    const { namespace = '' } = owner.place ?? {};
    if (first === undefined || owner.isGone || namespace === '') return;
    if (namespace !== dependent.place?.namespace) this.#options.onForeign(dependent, first);
  }
}

/** The dependents that an object waits for and that wait themselves. Undefined for one that does not. */
function* blocking({ uid, dependents }: Node): Iterable<Node | undefined> {
  for (const dependent of dependents ?? [])
    yield dependent.ending === 'foreground' && isBlocking(dependent.references, uid) ? dependent : undefined;
}

/** Everything that can be reached from a node, in steps. */
function* walk(
  from: Node,
  next: (node: Node) => Iterable<Node | undefined>,
): Iterator<Node | undefined, undefined> {
  const seen = new Set<Node>();
  const waiting = [from];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop())
    for (const found of next(node)) {
      yield found;
      if (found === undefined || seen.has(found)) continue;
      seen.add(found);
      waiting.push(found);
    }
}

const isWaiting = (ending: Ending): boolean => ending === 'orphan' || ending === 'foreground';

/** Where an owner must be. Undefined when it must be in a namespace, and the dependent is in none. */
function toPlace({ place }: Node, { name }: Reference, { resource, namespaced }: Target): Place | undefined {
  const namespace = place?.namespace ?? '';
  if (namespaced && namespace === '') return undefined;
  return { resource, namespace: namespaced ? namespace : '', name };
}

const isSame = (a: Place, b: Place): boolean =>
  a.name === b.name && a.namespace === b.namespace && a.resource === b.resource;

const refersTo = (references: readonly Reference[], uid: string): boolean =>
  references.some((reference) => reference.uid === uid);

const isBlocking = (references: readonly Reference[], uid: string): boolean =>
  references.some((reference) => reference.uid === uid && reference.blocks);

/** Each once. Nearly every object has one owner. */
function uidsOf(references: readonly Reference[]): Iterable<string> {
  const uids = references.map(({ uid }) => uid);
  return uids.length < 2 ? uids : new Set(uids);
}

/** Whether two lists refer to an owner in the same words. */
function hasSame(before: readonly Reference[], after: readonly Reference[], uid: string): boolean {
  const old = before.filter((reference) => reference.uid === uid);
  const now = after.filter((reference) => reference.uid === uid);
  return (
    old.length === now.length &&
    now.every(({ group, kind, name }, at) => {
      const was = old[at];
      return was?.group === group && was.kind === kind && was.name === name;
    })
  );
}
