import { LRUCache } from 'lru-cache';
import { AccessDenied } from '../api/status.ts';
import { groupsOf, parseUsername } from '../authn/service-account/signed-tokens.ts';
import {
  type AuthorizationAttributes,
  type Authorizer,
  forbiddenMessage,
  isMaster,
} from '../authz/authorizer.ts';
import { withSelectors } from '../authz/review-selectors.ts';
import { checkDomainPrefixedPath, checkName } from '../object/text-formats.ts';
import { exponential, Histogram, Numbers } from '../observability/instruments.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { AuthenticatedRequest, ResourceTarget, UserInfo } from '../request/api-request.ts';
import {
  AUTHENTICATION,
  extraTargets,
  type Impersonated,
  impersonateUnconstrained,
  mustAllow,
  toTarget,
  type Wish,
  withOwnGroup,
} from './impersonation-checks.ts';

interface ConstrainedImpersonationOptions {
  readonly authorizer: Authorizer;
  readonly metrics: Pick<Metrics, 'add'>;
  /** Whether authorizers see the selectors of a request. */
  readonly asksWithSelectors: boolean;
}

/**
 * The feature ConstrainedImpersonation (Kubernetes: endpoints/filters/impersonation). A sender needs two rights: to take on the user
 * in a mode (`impersonate:user-info`), and to do in that mode what it asks for (`impersonate-on:user-info:list` for pods). Where
 * no mode allows it, the unconstrained right counts, as before the feature.
 */
export class ConstrainedImpersonation {
  readonly #options: ConstrainedImpersonationOptions;
  /** The mode that was last allowed, by the sender's name: it is tried first, so that most requests cost no additional questions. */
  readonly #lastModes = new LRUCache<string, Mode>({ max: 10_000 });
  readonly #attempts: Measured;
  readonly #questions: Measured;

  constructor(options: ConstrainedImpersonationOptions) {
    this.#options = options;
    this.#attempts = new Measured(options.metrics, 'attempts', 'attempts to impersonate');
    this.#questions = new Measured(
      options.metrics,
      'authorization_attempts',
      'questions to authorizers about impersonation',
    );
  }

  /** @throws StatusError 403, of the first mode that refused */
  async impersonate(request: AuthenticatedRequest, wish: Wish): Promise<Impersonated> {
    const begunMs = performance.now();
    const last = this.#lastModes.get(request.user.username);
    const modes = MODES.filter((mode) => mode !== last && mode.covers(wish, request.user));
    let refusal: unknown;
    for (const mode of last?.covers(wish, request.user) === true ? [last, ...modes] : modes) {
      try {
        const found = await this.#attempt(mode, request, wish);
        this.#lastModes.set(request.user.username, mode);
        this.#attempts.note(mode.name, true, begunMs);
        return found;
      } catch (error) {
        refusal ??= error;
      }
    }
    this.#attempts.note('', false, begunMs);
    throw refusal;
  }

  #attempt(mode: Mode, request: AuthenticatedRequest, wish: Wish): Promise<Impersonated> {
    const authorizer = this.#measured(mode);
    return mode === LEGACY
      ? impersonateUnconstrained(authorizer, request, wish)
      : constrained(authorizer, { mode, wish, asked: this.#questionOf(request) });
  }

  #questionOf(request: AuthenticatedRequest): AuthorizationAttributes {
    const { user, verb, target, path, signal } = request;
    const { selectors } = this.#options.asksWithSelectors ? withSelectors(request) : { selectors: undefined };
    return { user, verb, target, path, signal, ...(selectors === undefined ? {} : { selectors }) };
  }

  #measured({ name, hidesNode }: Mode): Authorizer {
    const { authorizer } = this.#options;
    return {
      authorize: async (attributes) => {
        const begunMs = performance.now();
        const asked = hidesNode === true ? withoutNode(attributes) : attributes;
        const verdict = await authorizer.authorize(asked);
        this.#questions.note(name, verdict.decision === 'allow', begunMs);
        return verdict;
      },
      rules: (user, namespace) => authorizer.rules(user, namespace),
    };
  }
}

/** Counts and durations of one kind of step. */
class Measured {
  readonly #count: Numbers;
  readonly #seconds: Histogram;

  constructor(metrics: Pick<Metrics, 'add'>, name: string, what: string) {
    const labels = ['mode', 'decision'];
    const prefix = `apiserver_impersonation_${name}`;
    this.#count = metrics.add(
      new Numbers('counter', { name: `${prefix}_total`, help: `Number of ${what}.`, labels }),
    );
    this.#seconds = metrics.add(
      new Histogram(
        { name: `${prefix}_duration_seconds`, help: `Duration of ${what}, in seconds.`, labels },
        exponential(0.001, 2, 15),
      ),
    );
  }

  note(mode: string, isAllowed: boolean, begunMs: number): void {
    const labels = [mode, isAllowed ? 'allowed' : 'denied'] as const;
    this.#count.at(...labels).add();
    this.#seconds.at(...labels).observe((performance.now() - begunMs) / 1000);
  }
}

interface Mode {
  readonly name: string;
  /** Whether a sender may be allowed to take on the user in this mode. */
  covers(wish: Wish, sender: UserInfo): boolean;
  /** Questions name neither the node nor what binds the sender to it, so that one role serves the agents of all nodes. */
  readonly hidesNode?: true;
}

const onlyNamed = ({ groups, uid, extra }: Wish): boolean =>
  groups.length === 0 && uid === '' && extra.size === 0;

const NODE = 'system:node:';

function nodeOf(username: string): string | undefined {
  const name = username.startsWith(NODE) ? username.slice(NODE.length) : '';
  return checkName(name, 'dns-subdomain').length === 0 ? name : undefined;
}

const NODE_NAME = 'authentication.kubernetes.io/node-name';

function isBoundTo(node: string, { username, extra }: UserInfo): boolean {
  const [name, ...others] = extra[NODE_NAME] ?? [];
  return parseUsername(username) !== undefined && name === node && others.length === 0;
}

const LEGACY: Mode = { name: 'legacy', covers: () => true };

/** In the order in which they are tried. */
const MODES: readonly Mode[] = [
  {
    name: 'associated-node',
    hidesNode: true,
    covers: (wish, sender) => {
      const node = nodeOf(wish.username);
      return node !== undefined && onlyNamed(wish) && isBoundTo(node, sender);
    },
  },
  { name: 'arbitrary-node', covers: (wish) => onlyNamed(wish) && nodeOf(wish.username) !== undefined },
  {
    name: 'serviceaccount',
    covers: (wish) => onlyNamed(wish) && parseUsername(wish.username) !== undefined,
  },
  {
    name: 'user-info',
    covers: ({ username }) => nodeOf(username) === undefined && parseUsername(username) === undefined,
  },
  LEGACY,
];

const NODE_KEYS = 'authentication.kubernetes.io/associated-node-keys';

function withoutNode(attributes: AuthorizationAttributes): AuthorizationAttributes {
  const { user, verb, target } = attributes;
  const anonymous = { ...user, extra: { [NODE_KEYS]: Object.keys(user.extra).sort() } };
  const isAboutNode = verb === 'impersonate:associated-node' && target !== undefined;
  return { ...attributes, user: anonymous, target: isAboutNode ? { ...target, name: '*' } : target };
}

interface Attempt {
  readonly mode: Mode;
  readonly wish: Wish;
  /** The request that the sender makes as another user. */
  readonly asked: AuthorizationAttributes;
}

async function constrained(authorizer: Authorizer, { mode, wish, asked }: Attempt): Promise<Impersonated> {
  await mustAllow(authorizer, { ...asked, verb: `impersonate-on:${mode.name}:${asked.verb}` });
  const { username, uid, extra } = wish;
  const verb = `impersonate:${mode.name}`;
  const { user, signal } = asked;
  const ask = (target: ResourceTarget): Promise<void> =>
    mustAllow(authorizer, { user, verb, target, path: '', ...(signal === undefined ? {} : { signal }) });
  const { target, groups } = subjectOf(wish);
  await ask(target);
  if (uid !== '') await ask(toTarget({ group: AUTHENTICATION, resource: 'uids', name: uid }));
  refuseDangerous(wish, { user, verb });
  await askForAll(
    wish.groups.map((name) => toTarget({ group: AUTHENTICATION, resource: 'groups', name })),
    toTarget({ group: AUTHENTICATION, resource: 'groups', name: '*' }),
    ask,
  );
  const every = { group: AUTHENTICATION, resource: 'userextras', subresource: '*', name: '*' };
  await askForAll(extraTargets(extra), toTarget(every), ask);
  return {
    user: { username, uid, groups: withOwnGroup(username, groups), extra: Object.fromEntries(extra) },
    constraint: verb,
  };
}

/** The resource that stands for the user, and the user's groups: those of nodes and accounts are fixed. */
function subjectOf({ username, groups }: Wish): { target: ResourceTarget; groups: readonly string[] } {
  const node = nodeOf(username);
  const account = parseUsername(username);
  if (node !== undefined)
    return {
      target: toTarget({ group: AUTHENTICATION, resource: 'nodes', name: node }),
      groups: ['system:nodes'],
    };
  if (account !== undefined)
    return {
      target: toTarget({ group: AUTHENTICATION, resource: 'serviceaccounts', ...account }),
      groups: groupsOf(account.namespace),
    };
  return { target: toTarget({ group: AUTHENTICATION, resource: 'users', name: username }), groups };
}

/** From this many on, one question for all of them comes first. */
const MANY = 4;

async function askForAll(
  targets: readonly ResourceTarget[],
  every: ResourceTarget,
  ask: (target: ResourceTarget) => Promise<void>,
): Promise<void> {
  const areAllowed =
    targets.length >= MANY &&
    (await ask(every).then(
      () => true,
      () => false,
    ));
  if (areAllowed) return;
  for (const target of targets) await ask(target);
}

/** What no role can allow. @throws StatusError 403 */
function refuseDangerous(
  { groups, extra, username, uid }: Wish,
  { user, verb }: Pick<AuthorizationAttributes, 'user' | 'verb'>,
): void {
  const refuse = (resource: string, name: string, why: string): never => {
    const target = toTarget({ group: AUTHENTICATION, resource, name });
    throw new AccessDenied(target, name, forbiddenMessage({ user, verb, target, path: '' }, why));
  };
  if (groups.includes('')) refuse('groups', '', 'impersonating the empty string group is not allowed');
  if (isMaster({ username, uid, groups, extra: {} }))
    refuse('groups', 'system:masters', 'impersonating the system:masters group is not allowed');
  for (const [key, values] of extra) {
    const why = extraProblem(key, values);
    if (why !== undefined) refuse('userextras', '', why);
  }
}

function extraProblem(key: string, values: readonly string[]): string | undefined {
  if (key === '') return 'impersonating the empty string key in extra is not allowed';
  const [problem] = checkDomainPrefixedPath(key);
  if (problem !== undefined)
    return `impersonating an invalid key in extra is not allowed: extra.key: Invalid value: ${JSON.stringify(problem.value)}: ${problem.why}`;
  return values.includes('') ? 'impersonating the empty string value in extra is not allowed' : undefined;
}
