import { Environment } from '@marcbachmann/cel-js';
import { LRUCache } from 'lru-cache';
import { RE2JS } from 're2js';
import { spend, spendOnSize } from './budget.ts';
import { closeTypes } from './closed-types.ts';
import { AUTHORIZER, registerAuthorizer } from './libraries/authorizer-checks.ts';
import { registerAddresses } from './libraries/ip-and-cidr.ts';
import { registerLists, registerNewerLists, registerSets } from './libraries/lists.ts';
import { registerLoops } from './libraries/loops.ts';
import { registerFormats, registerUrls } from './libraries/named-formats.ts';
import { registerOptionals, registerPresence } from './libraries/optionals.ts';
import { registerQuantities } from './libraries/quantities.ts';
import { registerTexts } from './libraries/texts.ts';
import { registerVersions } from './libraries/versions.ts';
import { teachMessages } from './messages.ts';
import { teachOptionalEntries } from './optional-entries.ts';

/** Limits for expressions of administrators; larger ones are a mistake or an attack. */
const LIMITS = {
  maxAstNodes: 100_000,
  // Counts brackets and members together; depth.ts counts them as Kubernetes does.
  maxDepth: 600,
  maxListElements: 100_000,
  maxMapEntries: 100_000,
};

let base: Environment | undefined;

/** Everything that expressions of Kubernetes 1.36 may use (cel/environment, base), to be cloned for each set of variables. */
export function createEnvironment(): Environment {
  base ??= createBase();
  return base.clone();
}

function createBase(): Environment {
  const environment = [
    registerFunctions,
    registerPresence,
    registerOptionals,
    registerLists,
    registerNewerLists,
    registerLoops,
    registerSets,
    registerTexts,
    registerUrls,
    registerQuantities,
    registerVersions,
    registerAddresses,
    registerFormats,
    registerAuthorizer,
    registerNulls,
  ].reduce(
    (environment, register) => register(environment),
    new Environment({ enableOptionalTypes: true, homogeneousAggregateLiterals: false, limits: LIMITS }),
  );
  closeTypes(environment);
  teachOptionalEntries(environment);
  teachMessages(environment);
  return environment;
}

/** Types whose values may be compared with null, as in Kubernetes' checker. */
const NULLABLE = [
  'google.protobuf.Timestamp',
  'google.protobuf.Duration',
  'kubernetes.Quantity',
  'kubernetes.Semver',
  'kubernetes.URL',
  'kubernetes.NamedFormat',
  'net.IP',
  'net.CIDR',
  'optional',
  AUTHORIZER,
];

const registerNulls = (environment: Environment): Environment =>
  NULLABLE.reduce((one, type) => one.registerOperator(`${type} == null: bool`, () => false), environment);

/**
 * Functions of Kubernetes' expressions that the library lacks. Patterns are Go's and match in linear time: the library's `matches`
 * uses JavaScript's regular expressions, which a text can keep busy forever, so its calls are redirected here under another
 * name. The name has the same length, so that positions in error messages stay true.
 */
export const MATCHES = 'matches';
export const LINEAR_MATCHES = 'reMatch';

const patterns = new LRUCache<string, RE2JS>({ max: 500 });

function compile(pattern: string): RE2JS {
  const known = patterns.get(pattern);
  if (known !== undefined) return known;
  spendOnSize(pattern.length);
  const compiled = RE2JS.compile(pattern);
  spend(compiled.programSize());
  patterns.set(pattern, compiled);
  return compiled;
}

/**
 * A character may visit every state of a pattern, and one of a few characters can have a thousand states; most patterns take
 * some nanoseconds per character. A long text is charged for the worst case.
 */
function match<Found>(text: string, pattern: string, find: (compiled: RE2JS) => Found): Found {
  const compiled = compile(pattern);
  const states = compiled.programSize();
  const visits = text.length * states;
  if (visits > MANY_VISITS) spend(Math.ceil(visits / VISITS_PER_COST));
  else spendOnSize(text.length * Math.ceil(Math.max(pattern.length, states) / 4));
  return find(compiled);
}

const MANY_VISITS = 100_000;
/** Limits the time that one expression may spend on patterns to some 70 ms. */
const VISITS_PER_COST = 3;

const matches = (text: string, pattern: string): boolean =>
  match(text, pattern, (compiled) => compiled.matcher(text).find());

const findAll = (text: string, pattern: string, most: number): string[] =>
  match(text, pattern, (compiled) => {
    const matcher = compiled.matcher(text);
    const found: string[] = [];
    while ((most < 0 || found.length < most) && matcher.find()) found.push(matcher.group() ?? '');
    return found;
  });

function registerFunctions(environment: Environment): Environment {
  return environment
    .registerFunction(`string.${LINEAR_MATCHES}(string): bool`, matches)
    .registerFunction(`${LINEAR_MATCHES}(string, string): bool`, matches)
    .registerFunction('string.find(string): string', (text: string, pattern: string) => {
      const [first = ''] = findAll(text, pattern, 1);
      return first;
    })
    .registerFunction('string.findAll(string): list<string>', (text: string, pattern: string) =>
      findAll(text, pattern, -1),
    )
    .registerFunction(
      'string.findAll(string, int): list<string>',
      (text: string, pattern: string, most: bigint) => findAll(text, pattern, Number(most)),
    );
}
