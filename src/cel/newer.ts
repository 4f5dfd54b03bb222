import type { Minor } from '../api/emulation.ts';
import { type Call, callsIn } from './calls.ts';

/**
 * Functions that came with a later version of Kubernetes than 1.31 (cel/environment, base). All expressions that are stored can
 * use them, so that a version can go back; new ones only where the version before has them, too.
 */
interface Newer {
  readonly since: Minor;
  /** The numbers of arguments that are newer; absent: any. */
  readonly counts?: readonly number[];
}

const TWO_VARIABLES: Newer = { since: 32 };
const LISTS: Newer = { since: 34 };
const VERSIONS: Newer = { since: 33 };
/** They came with the compiler of 1.33, whose new expressions use them at once. */
const ENDS: Newer = { since: 32 };
const QUANTIFIER: Newer = { since: 32, counts: [3] };

const FUNCTIONS: ReadonlyMap<string, Newer> = new Map([
  ['semver', VERSIONS],
  ['isSemver', VERSIONS],
]);

const METHODS: ReadonlyMap<string, Newer> = new Map([
  ...['all', 'exists', 'exists_one'].map((name) => [name, QUANTIFIER] as const),
  ...['existsOne', 'transformList', 'transformMap', 'transformMapEntry'].map(
    (name) => [name, TWO_VARIABLES] as const,
  ),
  ...['first', 'last'].map((name) => [name, ENDS] as const),
  ...['slice', 'flatten', 'distinct', 'reverse', 'sort', 'sortBy'].map((name) => [name, LISTS] as const),
]);

/** The namespace of `lists.range(3)`. */
const NAMESPACE = 'lists';

/** What expressions that are written may use. Those that are stored already go on using what they use. */
export interface NewExpressions {
  /** The newest version of Kubernetes whose functions are known. */
  readonly newest: Minor;
  readonly stored: ReadonlySet<string>;
}

/** A name that is not known yet, and where. */
interface Unknown {
  readonly name: string;
  readonly offset: number;
}

/** The first use of what only versions after `newest` have. Undefined: there is none. */
export function newerName(root: unknown, newest: Minor): Unknown | undefined {
  if (newest >= NEWEST) return undefined;
  for (const call of callsIn(root)) {
    const found = newerIn(call, newest);
    if (found !== undefined) return found;
  }
  return undefined;
}

const NEWEST = LISTS.since;

/** Kubernetes points at the parenthesis of a call. */
function newerIn({ name, receiver, given, start, input }: Call, newest: Minor): Unknown | undefined {
  if (receiver === undefined) {
    const isNewer = (FUNCTIONS.get(name)?.since ?? newest) > newest;
    return isNewer ? { name, offset: input.indexOf('(', start) } : undefined;
  }
  if (receiver.op === 'id' && receiver.args === NAMESPACE && name === 'range' && LISTS.since > newest)
    return { name: NAMESPACE, offset: receiver.start };
  const { since = newest, counts } = METHODS.get(name) ?? {};
  if (since <= newest || counts?.includes(given.length) === false) return undefined;
  return { name, offset: input.indexOf('(', receiver.end) };
}
