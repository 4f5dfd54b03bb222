import { Pace } from '../../util/turns.ts';
import type { Stored, Target } from './followed-kinds.ts';
import type { Ending, Ownership, Reference } from './ownership.ts';

const NO_REFERENCES: readonly Reference[] = Object.freeze([]);

/** The location of an object. */
export interface Place {
  readonly resource: Stored;
  /** '' for cluster-scoped objects. */
  readonly namespace: string;
  readonly name: string;
}

/**
 * An object that has owners, is an owner, or waits for the collector. About 200 bytes: a cluster of a million pods has a
 * million nodes, so that rare fields are made on demand, and strings are shared with the cache.
 */
export class Node {
  readonly uid: string;
  /** Undefined for an owner that has not been seen: it may exist, or not any more. */
  place: Place | undefined;
  references: readonly Reference[] = NO_REFERENCES;
  ending: Ending = 'no';
  /** The object was deleted. Its node remains for its dependents. */
  isGone = false;
  /** All of its dependents have become due. */
  spreads = false;
  /** Undecidable until other kinds are served. */
  isPostponed = false;
  /** How many dependents block its deletion in the foreground. */
  blockers = 0;
  dependents: Set<Node> | undefined;
  /** Where an unseen owner was searched and not found. */
  absentAt: Place[] | undefined;

  constructor(uid: string) {
    this.uid = uid;
  }
}

interface GraphOptions {
  /** The resource of a kind; undefined for one that was never served. */
  readonly find: (reference: Reference) => Target | undefined;
  /** Reports that a node may need work. */
  readonly due: (node: Node) => void;
  /** Reports a reference to an object of another namespace. */
  readonly onForeign: (dependent: Node, reference: Reference) => void;
}

/** The state of a reference. */
type Standing =
  /** The owner exists. */
  | 'solid'
  /** The owner does not exist, and never will. */
  | 'dangling'
  /** The owner waits for its dependents to be deleted. */
  | 'waiting'
  /** The owner must be searched. */
  | 'unknown'
  /** The kind of the owner is not served, or a cluster-scoped object cannot refer to it: nothing is done. */
  | 'undecided';

/**
 * Maps objects to their owners, by uid. The watch cache reports every change in the turn that applies it, so that the graph is
 * exactly as new as the cache. It reports due objects; what to do with them is decided in their turn.
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

  /** Takes the newest state of an object. Makes no node for one without owners, dependents or finalizers. */
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

  /** Removes an object. Its place may be unknown until now. */
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

  /** Records that an unseen owner was searched and not found. */
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
    // The owner is elsewhere, or was.
    if (owner?.place !== undefined) return 'dangling';
    return owner?.absentAt?.some((absent) => isSame(absent, place)) === true ? 'dangling' : 'unknown';
  }

  /** Where to search an owner. `place`: undefined for a reference from a cluster-scoped object to a namespaced one. */
  whereIs(
    dependent: Node,
    reference: Reference,
  ): { readonly resource: Stored; readonly place: Place | undefined } | undefined {
    const target = this.#options.find(reference);
    if (target?.isServed !== true) return undefined;
    return { resource: target.resource, place: toPlace(dependent, reference, target) };
  }

  /**
   * Whether an object in foreground deletion waits, through others, for itself. Searches from both sides, one step each in
   * turn, until one side has ended: the end of a long chain of owners is near the due objects, because deletions begin at one
   * end of it.
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

  /** Reports a dependent, or its owner, that may need work. */
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

/** Waiting dependents for which an object waits. Undefined for one that it does not wait for. */
function* blocking({ uid, dependents }: Node): Iterable<Node | undefined> {
  for (const dependent of dependents ?? [])
    yield dependent.ending === 'foreground' && isBlocking(dependent.references, uid) ? dependent : undefined;
}

/** All nodes reachable from a node, in steps. */
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

/** Where an owner must be. Undefined when it is namespaced and the dependent is not. */
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

/** Each uid once. Nearly every object has one owner. */
function uidsOf(references: readonly Reference[]): Iterable<string> {
  const uids = references.map(({ uid }) => uid);
  return uids.length < 2 ? uids : new Set(uids);
}

/** Whether two lists have equal references to an owner. */
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
