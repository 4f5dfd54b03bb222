import type { JsonObject, JsonValue } from '../../api/object-meta.ts';
import type {
  MutatingWebhook,
  MutatingWebhookConfiguration,
  ValidatingWebhook,
  ValidatingWebhookConfiguration,
  WebhookClientConfig,
} from '../../api/types/admissionregistration/v1.ts';
import { type CelProgram, compileCel } from '../../cel/program.ts';
import { certificatesIn, toBundle } from '../../x509/pem.ts';
import { readSelector, type Selector } from '../matching/match-resources.ts';
import { type ResourceRule, readRules } from '../matching/resource-rules.ts';

export type WebhookConfiguration = MutatingWebhookConfiguration | ValidatingWebhookConfiguration;

/** One webhook of a configuration (admissionregistration.k8s.io/v1), parsed. */
export interface Webhook {
  readonly configuration: string;
  readonly name: string;
  /** Unique, unlike the name, which may occur in several configurations. */
  readonly key: string;
  readonly client: ClientConfig;
  readonly rules: readonly ResourceRule[];
  readonly matchesEquivalents: boolean;
  readonly namespaceSelector: Selector;
  readonly objectSelector: Selector;
  readonly matchConditions: readonly MatchCondition[];
  /** Whether a failed call lets the write pass. */
  readonly ignoresFailures: boolean;
  readonly sideEffects: string;
  readonly timeoutMs: number;
  readonly reviewVersions: readonly string[];
  /** For mutating webhooks. */
  readonly reinvokes: boolean;
}

/** The address of a webhook: a URL, or a service of the cluster. */
export interface ClientConfig {
  readonly url: string;
  readonly service: ServiceReference | undefined;
  /** PEM text. Empty: the authorities that the host trusts. */
  readonly ca: string;
}

export interface ServiceReference {
  readonly namespace: string;
  readonly name: string;
  readonly path: string;
  readonly port: number;
}

const DEFAULT_PORT = 443;
const DEFAULT_TIMEOUT_SECONDS = 10;

/** In calling order: by the name of the configuration, then in the order of its list. */
export const toWebhooks = (configurations: readonly WebhookConfiguration[]): Webhook[] =>
  [...configurations]
    .sort((a, b) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1))
    .flatMap(({ metadata, webhooks = [] }) =>
      webhooks.map((webhook, at) => toWebhook(metadata.name ?? '', webhook, at)),
    );

function toWebhook(
  configuration: string,
  webhook: ValidatingWebhook & Pick<MutatingWebhook, 'reinvocationPolicy'>,
  at: number,
): Webhook {
  const { name = '', clientConfig = {}, timeoutSeconds } = webhook;
  return {
    configuration,
    name,
    key: `${configuration}/${name}/${at}`,
    client: toClientConfig(clientConfig),
    rules: readRules(webhook.rules),
    matchesEquivalents: (webhook.matchPolicy || 'Equivalent') === 'Equivalent',
    namespaceSelector: readSelector(webhook.namespaceSelector),
    objectSelector: readSelector(webhook.objectSelector),
    matchConditions: (webhook.matchConditions ?? []).map(toMatchCondition),
    ignoresFailures: webhook.failurePolicy === 'Ignore',
    sideEffects: webhook.sideEffects ?? '',
    timeoutMs: (timeoutSeconds || DEFAULT_TIMEOUT_SECONDS) * 1000,
    reviewVersions: webhook.admissionReviewVersions ?? [],
    reinvokes: webhook.reinvocationPolicy === 'IfNeeded',
  };
}

function toClientConfig({ url = '', service, caBundle = '' }: WebhookClientConfig): ClientConfig {
  const { namespace = '', name = '', path = '', port } = service ?? {};
  return {
    url,
    service: name === '' ? undefined : { namespace, name, path, port: port || DEFAULT_PORT },
    ca: toAuthorities(caBundle),
  };
}

/** A bundle without certificates trusts nobody; an empty text would mean the host's authorities. */
const NOBODY = '# no certificate\n';

function toAuthorities(caBundle: string): string {
  if (caBundle === '') return '';
  return toBundle(certificatesIn(Buffer.from(caBundle, 'base64').toString('latin1'))) || NOBODY;
}

/** An expression that must hold for a webhook to be called. */
interface MatchCondition {
  readonly name: string;
  readonly expression: string;
}

/** The variables of expressions. `object` and `oldObject` are null when there is none. */
interface ConditionVariables {
  readonly object: JsonValue;
  readonly oldObject: JsonValue;
  readonly request: JsonObject;
}

type ConditionsAnswer = { readonly matches: boolean } | { readonly errors: readonly string[] };

const toMatchCondition = ({ name = '', expression = '' }: Partial<MatchCondition>): MatchCondition => ({
  name,
  expression,
});

const VARIABLES = { object: 'dyn', oldObject: 'dyn', request: 'map<string, dyn>' };

const programs = new WeakMap<MatchCondition, CelProgram>();

function programOf(condition: MatchCondition): CelProgram {
  const known = programs.get(condition);
  if (known !== undefined) return known;
  const compiled = compileCel(condition.expression, VARIABLES);
  programs.set(condition, compiled);
  return compiled;
}

/** One false condition decides, even if others failed (Kubernetes: admission/plugin/webhook/matchconditions). */
export function evaluateConditions(
  conditions: readonly MatchCondition[],
  { object, oldObject, request }: ConditionVariables,
): ConditionsAnswer {
  const errors: string[] = [];
  for (const condition of conditions) {
    try {
      const value = programOf(condition).evaluate({ object, oldObject, request });
      if (value === false) return { matches: false };
      if (value !== true) errors.push(`expression '${condition.expression}' gave no boolean`);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      errors.push(`expression '${condition.expression}' resulted in error: ${why}`);
    }
  }
  return errors.length === 0 ? { matches: true } : { errors };
}
