import type { JsonObject } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { repeatedKeyProblems } from '../../codec/yaml-problems.ts';
import { parseYamlText } from '../../codec/yaml-text.ts';
import {
  asObject,
  checkFields,
  checkOneOf,
  duplicate,
  invalidValue,
  required,
} from '../../object/field-errors.ts';
import { checkName } from '../../object/text-formats.ts';
import type { DecisionMetrics } from '../../observability/access-metrics.ts';
import type { UserInfo } from '../../request/api-request.ts';
import { FollowedFiles } from '../../util/followed-files.ts';
import {
  type AuthorizationAttributes,
  type Authorizer,
  allowMasters,
  alwaysAllow,
  alwaysDeny,
  createChain,
  type Rules,
  type Verdict,
} from '../authorizer.ts';
import { parseWebhookConfig, type WebhookConfig } from './webhook-config.ts';

/**
 * The file of --authorization-config, in YAML or JSON:
 *
 *   apiVersion: apiserver.config.k8s.io/v1beta1
 *   kind: AuthorizationConfiguration
 *   authorizers:
 *   - {type: Node, name: node}
 *   - {type: RBAC, name: rbac}
 *
 * The checks are Kubernetes' (apiserver, pkg/apis/apiserver/validation), but unknown fields are refused.
 */

const API_VERSIONS = ['k8s.io', 'cluster.io'].flatMap((domain) =>
  ['v1alpha1', 'v1beta1', 'v1'].map((version) => `apiserver.config.${domain}/${version}`),
);

/**
 * `requiredModes` must be among the authorizers: on a reload the modes that the server started with.
 * @throws Error with all problems
 */
export function parseAuthorizationConfig(
  text: string,
  requiredModes: readonly Mode[] = [],
): AuthorizerConfig[] {
  const { value, duplicates } = parseYamlText(Buffer.from(text));
  const file = asObject(value);
  const problems: FieldError[] = [];
  problems.push(...repeatedKeyProblems(duplicates));
  checkOneOf(file.apiVersion, API_VERSIONS, 'apiVersion', problems);
  checkOneOf(file.kind, ['AuthorizationConfiguration'], 'kind', problems);
  checkFields(file, ['apiVersion', 'kind', 'authorizers'], '', problems);
  const listed = Array.isArray(file.authorizers) ? file.authorizers.map(asObject) : [];
  if (listed.length === 0) {
    problems.push(required('authorizers', 'at least one authorization mode must be defined'));
  }
  const authorizers = listed.flatMap((authorizer, at) =>
    parseAuthorizer(authorizer, `authorizers[${at}]`, problems),
  );
  checkRepetitions(authorizers, problems);
  const errors = problems.map(({ field, message }) => `${field}: ${message}`);
  const modes = authorizers.map(({ type }) => type);
  const missing = requiredModes.filter((mode) => !modes.includes(mode));
  if (missing.length > 0) errors.push(`missing required types: [${missing.join(' ')}]`);
  if (errors.length > 0) throw new Error(`authorization configuration: ${errors.join(', ')}`);
  return authorizers;
}

function parseAuthorizer(authorizer: JsonObject, path: string, problems: FieldError[]): AuthorizerConfig[] {
  checkFields(authorizer, ['type', 'name', 'webhook'], path, problems);
  const { type, name = '', webhook } = authorizer;
  checkOneOf(type, MODES, `${path}.type`, problems);
  if (typeof type !== 'string' || !isMode(type)) return [];
  checkAuthorizerName(String(name), type, `${path}.name`, problems);
  if (type === 'Webhook') {
    if (webhook === undefined || webhook === null) {
      problems.push(required(`${path}.webhook`, 'required when type=Webhook'));
      return [];
    }
    const config = parseWebhookConfig(asObject(webhook), `${path}.webhook`, problems);
    return [{ type, name: String(name), webhook: config }];
  }
  if (webhook !== undefined && webhook !== null) {
    problems.push(invalidValue(`${path}.webhook`, 'non-null', 'may only be specified when type=Webhook'));
  }
  return [{ type, name: String(name) }];
}

function checkAuthorizerName(name: string, type: Mode, field: string, problems: FieldError[]): void {
  if (name === '') {
    problems.push(required(field));
    return;
  }
  const reasons = checkName(name, 'dns-subdomain');
  if (reasons.length > 0) {
    problems.push(invalidValue(field, name, `authorizer name is invalid: ${reasons.join(', ')}`));
  }
  if (type === 'Webhook' || name === nameOfMode(type)) return;
  problems.push(invalidValue(field, name, `expected name ${nameOfMode(type)} for authorizer ${type}`));
}

/** Names, and modes other than Webhook, must be unique. */
function checkRepetitions(authorizers: readonly AuthorizerConfig[], problems: FieldError[]): void {
  const seen = new Set<string>();
  for (const [at, { type, name }] of authorizers.entries()) {
    const key = type === 'Webhook' ? `name ${name}` : `type ${type}`;
    if (seen.has(key)) {
      const [field, value] = type === 'Webhook' ? ['name', name] : ['type', type];
      problems.push(duplicate(`authorizers[${at}].${field}`, value));
    }
    seen.add(key);
  }
}

/** The kinds of authorizers, as --authorization-mode and the configuration file name them. */
const MODES = ['ABAC', 'AlwaysAllow', 'AlwaysDeny', 'Node', 'RBAC', 'Webhook'] as const;

type Mode = (typeof MODES)[number];

const isMode = (text: string): text is Mode => MODES.some((mode) => mode === text);

/** One link of the chain. */
type AuthorizerConfig =
  | { readonly type: Exclude<Mode, 'Webhook'>; readonly name: string }
  | { readonly type: 'Webhook'; readonly name: string; readonly webhook: WebhookConfig };

/** Authorizers other than webhooks have the name of their mode. */
const nameOfMode = (mode: Mode): string => mode.toLowerCase();

/** The parts of a chain. An absent engine was not enabled when the server started. */
export interface Engines {
  readonly rbac?: Authorizer;
  readonly node?: Authorizer;
  readonly abac?: Authorizer;
  readonly webhook: (name: string, config: WebhookConfig) => Authorizer;
}

/** @throws Error when a link needs an absent engine */
export function buildChain(
  configs: readonly AuthorizerConfig[],
  engines: Engines,
  decisions?: Pick<DecisionMetrics, 'of'>,
): Authorizer {
  const links = configs.map((config) => {
    const authorizer = build(config, engines);
    return decisions === undefined ? authorizer : counted(authorizer, decisions.of(config.type, config.name));
  });
  return createChain([allowMasters, ...links]);
}

function counted(authorizer: Authorizer, counts: ReturnType<DecisionMetrics['of']>): Authorizer {
  const count = (verdict: Verdict): Verdict => {
    if (verdict.decision === 'allow') counts.allowed();
    else if (verdict.decision === 'deny') counts.denied();
    return verdict;
  };
  return {
    authorize: (attributes) => {
      const answer = authorizer.authorize(attributes);
      return answer instanceof Promise ? answer.then(count) : count(answer);
    },
    rules: (user, namespace) => authorizer.rules(user, namespace),
  };
}

function build(config: AuthorizerConfig, { rbac, node, abac, webhook }: Engines): Authorizer {
  switch (config.type) {
    case 'AlwaysAllow':
      return alwaysAllow;
    case 'AlwaysDeny':
      return alwaysDeny;
    case 'ABAC':
      return enabled(abac, config.type);
    case 'Node':
      return enabled(node, config.type);
    case 'RBAC':
      return enabled(rbac, config.type);
    case 'Webhook':
      return webhook(config.name, config.webhook);
    default:
      return config satisfies never;
  }
}

function enabled(engine: Authorizer | undefined, mode: Mode): Authorizer {
  if (engine !== undefined) return engine;
  throw new Error(`authorizer type ${mode} is not allowed if it was not enabled at initial server startup`);
}

/**
 * The chain that --authorization-mode asks for; `webhook` comes from the flags of the webhook.
 * @throws Error
 */
export function fromModes(modes: readonly string[], webhook: WebhookConfig | undefined): AuthorizerConfig[] {
  if (new Set(modes).size < modes.length) {
    throw new Error(`authorization-mode ${JSON.stringify(modes)} has mode specified more than once`);
  }
  return modes.map((mode) => {
    if (!isMode(mode)) throw new Error(`authorization-mode ${JSON.stringify(mode)} is not a valid mode`);
    if (mode !== 'Webhook') return { type: mode, name: nameOfMode(mode) };
    if (webhook === undefined) {
      throw new Error("authorization-mode Webhook's authorization config file not passed");
    }
    return { type: mode, name: 'default', webhook };
  });
}

/** How often the file is checked, as in Kubernetes. */
const RELOAD_EVERY_MS = 60_000;

interface ReloadingOptions {
  readonly path: string;
  /** @throws Error when the chain cannot be built */
  readonly build: (configs: readonly AuthorizerConfig[]) => Authorizer;
  /** Gets the text of the file. */
  readonly onReload: (text: string) => void;
  readonly onError: (error: unknown) => void;
}

/**
 * The chain that a file configures. An invalid file changes nothing. Modes other than Webhook must stay in the file, because
 * their indexes exist for as long as the server runs.
 */
export class ReloadingAuthorizer implements Authorizer {
  readonly #file: FollowedFiles<Authorizer>;
  #modes: readonly Mode[] | undefined;

  /** @throws Error for an invalid file */
  constructor({ path, build, onReload, onError }: ReloadingOptions) {
    const make = ([text = '']: readonly string[]): Authorizer => {
      const configs = parseAuthorizationConfig(text, this.#modes);
      this.#modes ??= configs.map(({ type }) => type).filter((type) => type !== 'Webhook');
      return build(configs);
    };
    const everyMs = RELOAD_EVERY_MS;
    this.#file = new FollowedFiles({
      paths: [path],
      make,
      onChange: () => onReload(this.text),
      onError,
      everyMs,
    });
  }

  /** The text of the file when it was last read. */
  get text(): string {
    return this.#file.texts[0] ?? '';
  }

  authorize(attributes: AuthorizationAttributes): Promise<Verdict> | Verdict {
    return this.#file.current.authorize(attributes);
  }

  rules(user: UserInfo, namespace?: string): Rules {
    return this.#file.current.rules(user, namespace);
  }

  run(signal: AbortSignal): Promise<void> {
    return this.#file.run(signal);
  }

  /** Takes the current file, if it has changed and is valid. */
  reload(): Promise<void> {
    return this.#file.look();
  }
}
