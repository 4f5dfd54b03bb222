import type { TypeLibrary } from '../../api/idl/types.ts';
import type { ResourceOf } from '../../api/names.ts';
import { forbidden, internalError } from '../../api/status.ts';
import { CelAuthorizer } from '../../cel/libraries/authorizer-checks.ts';
import type { Bindings } from '../../cel/policies/compiler.ts';
import { reviewedRequest } from '../../cel/policies/request.ts';
import { toCel } from '../../cel/program.ts';
import { asObject } from '../../object/field-errors.ts';
import type { Tracing } from '../../observability/tracing.ts';
import type { Registry } from '../../registry/registry.ts';
import type { AdmissionAttributes } from '../admission.ts';
import { type AdmissionMetrics, reportConditions, type WebhookCall } from '../admission-metrics.ts';
import type { ClusterObjects } from '../cluster-objects.ts';
import type { StaticObjects } from '../manifests/manifest-folder.ts';
import { type OpenManifests, webhookManifests } from '../manifests/manifest-rules.ts';
import { evaluateConditions } from '../match-conditions.ts';
import { Namespaces, namespaceOf, objectSelected } from '../match-resources.ts';
import type { PluginParts } from '../plugin.ts';
import { Rights, type RightsOracle } from '../policies/rights.ts';
import { requestOf, toMatchedForm } from '../request-form.ts';
import type { SeenObjects } from './admission-review.ts';
import { CallError, callWebhook, type Take, WebhookRefusal } from './call-webhook.ts';
import {
  type LocateService,
  readWebhookConfig,
  WebhookClients,
  type WebhookCredentials,
  type WebhookWays,
} from './clients.ts';
import { type Candidate, HookList, type WebhookConfiguration } from './webhook.ts';

/** The parts of both webhook plugins. */
export interface WebhookParts {
  readonly objects: ClusterObjects;
  readonly registry: Registry;
  readonly types: TypeLibrary;
  readonly credentials: WebhookCredentials;
  /** Configurations of files. */
  readonly manifests?: StaticObjects | undefined;
  readonly ways?: WebhookWays;
  readonly locateService: LocateService;
  /** Answers conditions that ask about rights. */
  readonly rights: RightsOracle;
  readonly admissionMetrics: AdmissionMetrics;
  readonly tracing: Tracing;
  /**
   * False while the server starts. Its writes then are necessary, and a webhook that does not answer, perhaps because it needs
   * this server, must not keep it from starting.
   */
  isServing(): boolean;
  /** Gets the ignored failures of webhooks. */
  onFailure(error: CallError): void;
}

/** The parts that the plugins get from the server; the rest comes from their configuration. */
export interface WebhookNeeds
  extends Omit<WebhookParts, 'credentials' | 'manifests'>,
    Pick<PluginParts, 'config'> {
  readonly openManifests: OpenManifests;
  /** --proxy-client-cert-file and --proxy-client-key-file. @throws Error that names the flags */
  readProxyClient(): WebhookCredentials['pair'];
}

type WebhookKind = 'Mutating' | 'Validating';

const configurationsOf = (kind: WebhookKind): ResourceOf<WebhookConfiguration> => ({
  group: 'admissionregistration.k8s.io',
  resource: `${kind.toLowerCase()}webhookconfigurations`,
});

/** @throws Error about the configuration */
export function toWebhookParts(
  { config, readProxyClient, openManifests, ...parts }: WebhookNeeds,
  kind: WebhookKind,
): WebhookParts {
  const rules = webhookManifests(
    `${kind}AdmissionWebhook`,
    `${kind}WebhookConfiguration`,
    configurationsOf(kind),
  );
  const manifests = config === undefined ? undefined : openManifests(asObject(config), rules);
  const users = readWebhookConfig(config, manifests !== undefined);
  return { ...parts, credentials: { users, pair: readProxyClient() }, manifests };
}

const NO_CANDIDATES: readonly Candidate[] = Object.freeze([]);

/** The common part of mutating and validating webhooks: selects the webhooks to call, and handles failed calls. */
export class Dispatch {
  readonly types: TypeLibrary;
  readonly #hooks: HookList;
  readonly #namespaces: Namespaces;
  readonly #clients: WebhookClients;
  readonly #mutating: boolean;
  readonly #parts: WebhookParts;
  readonly #isServing: () => boolean;
  readonly #onFailure: WebhookParts['onFailure'];

  constructor(parts: WebhookParts, kind: WebhookKind) {
    const resource = configurationsOf(kind);
    const ofFiles = parts.manifests && { objects: parts.manifests, resource };
    this.types = parts.types;
    this.#parts = parts;
    this.#hooks = new HookList(parts.objects.follow(resource), parts.registry, ofFiles);
    this.#namespaces = new Namespaces(parts.objects);
    this.#clients = new WebhookClients(parts.locateService, parts.credentials, parts.ways);
    this.#isServing = () => parts.isServing();
    this.#mutating = kind === 'Mutating';
    this.#onFailure = (error) => parts.onFailure(error);
  }

  /** The webhooks whose rules match, in calling order. */
  candidates(attributes: AdmissionAttributes): readonly Candidate[] {
    return this.#isServing() ? this.#hooks.candidates(attributes) : NO_CANDIDATES;
  }

  /** Whether the selectors and conditions of a candidate match, too. @throws StatusError */
  async isCalled(candidate: Candidate, attributes: AdmissionAttributes): Promise<boolean> {
    const { webhook } = candidate;
    if (!objectSelected(webhook.objectSelector, attributes)) return false;
    if (!(await this.#namespaces.selected(webhook.namespaceSelector, attributes))) return false;
    return webhook.matchConditions.length === 0 || this.#conditionsMatch(candidate, attributes);
  }

  async #conditionsMatch(candidate: Candidate, attributes: AdmissionAttributes): Promise<boolean> {
    const { admissionMetrics: metrics, rights: oracle } = this.#parts;
    const { webhook } = candidate;
    const of = { name: webhook.name, kind: 'webhook', ...this.#phaseOf(attributes) } as const;
    const rights = new Rights(oracle, attributes.user);
    const answer = await evaluateConditions(webhook.matchConditions, {
      given: await bindingsOf(candidate, attributes, rights),
      rights,
      report: reportConditions(metrics, of),
    });
    if ('why' in answer && !webhook.ignoresFailures)
      throw forbidden(attributes.definition, attributes.name, answer.why);
    const matches = 'matches' in answer && answer.matches;
    if (!matches) metrics.excluded(of);
    return matches;
  }

  #phaseOf({ operation }: AdmissionAttributes): Pick<WebhookCall, 'phase' | 'operation'> {
    return { phase: this.#mutating ? 'admit' : 'validating', operation };
  }

  /**
   * Returns the result of `take`. Undefined: the call failed, and the webhook's failurePolicy ignores that; `note` is recorded
   * then.
   * @throws StatusError
   */
  async call<Result>(
    candidate: Candidate,
    attributes: AdmissionAttributes,
    { note, take }: { readonly note: string; readonly take: Take<Result> },
  ): Promise<Result | undefined> {
    const { types, tracing, admissionMetrics: metrics } = this.#parts;
    const callee = { clients: this.#clients, types, tracing, mutating: this.#mutating };
    const of = { name: candidate.webhook.name, ...this.#phaseOf(attributes) };
    const begun = performance.now();
    try {
      const objects = await seenBy(candidate, attributes);
      const result = await callWebhook(callee, attributes, { candidate, objects }, take);
      metrics.webhookCalled(of, performance.now() - begun, 200, false);
      return result;
    } catch (error) {
      const ms = performance.now() - begun;
      if (!(error instanceof CallError)) throw this.#refused(error, of, ms);
      const { ignoresFailures, name } = candidate.webhook;
      const hasLeft = attributes.caller?.signal.aborted === true;
      if (!ignoresFailures && !hasLeft) metrics.webhookRejected(of, 'calling_webhook_error', error.code);
      metrics.webhookCalled(of, ms, error.code, !ignoresFailures);
      if (!ignoresFailures) throw internalError(error.message, error);
      if (!hasLeft) {
        metrics.failedOpen(of);
        attributes.annotate(note, name);
      }
      this.#onFailure(error);
      return undefined;
    }
  }

  /** The error for the client. */
  #refused(error: unknown, of: WebhookCall, ms: number): unknown {
    const { admissionMetrics: metrics } = this.#parts;
    const refusal = error instanceof WebhookRefusal ? error.refusal : undefined;
    const code = refusal?.status.code ?? 0;
    metrics.webhookRejected(of, refusal === undefined ? 'apiserver_internal_error' : 'no_error', code);
    metrics.webhookCalled(of, ms, code, true);
    return refusal ?? error;
  }
}

/** The variables of conditions. */
async function bindingsOf(
  candidate: Candidate,
  attributes: AdmissionAttributes,
  rights: Rights,
): Promise<Bindings> {
  const { object, oldObject } = await seenBy(candidate, attributes);
  const { definition, subresource, name } = attributes;
  const { group, resource } = definition;
  const about = { group, resource, subresource, namespace: namespaceOf(attributes), name };
  return {
    object: toCel(object),
    oldObject: toCel(oldObject),
    request: reviewedRequest(requestOf(attributes, candidate)),
    namespaceObject: null,
    authorizer: new CelAuthorizer(rights.ask, {}, about),
  };
}

async function seenBy(candidate: Candidate, attributes: AdmissionAttributes): Promise<SeenObjects> {
  const object = await toMatchedForm(attributes, candidate, attributes.object);
  return { object, oldObject: await toMatchedForm(attributes, candidate, attributes.old) };
}
