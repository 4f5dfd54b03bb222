import type { TypeLibrary } from '../../api/idl/types.ts';
import type { ResourceOf } from '../../api/names.ts';
import type { JsonObject } from '../../api/object-meta.ts';
import { forbidden, internalError } from '../../api/status.ts';
import type { Registry } from '../../registry/registry.ts';
import type { AdmissionAttributes } from '../admission.ts';
import type { ClusterObjects } from '../cluster-objects.ts';
import { Namespaces, objectSelected } from '../matching/match-resources.ts';
import type { PluginParts } from '../plugin.ts';
import { CallError, callWebhook } from './call.ts';
import { readWebhookConfig, WebhookClients, type WebhookCredentials } from './clients.ts';
import { type Candidate, HookList } from './hook-list.ts';
import { requestOf, type SeenObjects, type Verdict } from './review.ts';
import { evaluateConditions, type WebhookConfiguration } from './webhook.ts';
import { toWebhookForm } from './webhook-form.ts';

/** The parts of both webhook plugins. */
export interface WebhookParts {
  readonly objects: ClusterObjects;
  readonly registry: Registry;
  readonly types: TypeLibrary;
  readonly credentials: WebhookCredentials;
  /**
   * False while the server starts. Its writes then are necessary, and a webhook that does not answer, perhaps because it needs
   * this server, must not keep it from starting.
   */
  isServing(): boolean;
  /** Gets the ignored failures of webhooks. */
  onFailure(error: CallError): void;
}

/** The parts that the plugins get from the server; the rest comes from their configuration. */
export interface WebhookNeeds extends Omit<WebhookParts, 'credentials'>, Pick<PluginParts, 'config'> {
  /** --proxy-client-cert-file and --proxy-client-key-file. @throws Error that names the flags */
  readProxyClient(): WebhookCredentials['pair'];
}

export const toWebhookParts = ({ config, readProxyClient, ...parts }: WebhookNeeds): WebhookParts => ({
  ...parts,
  credentials: { users: readWebhookConfig(config), pair: readProxyClient() },
});

const NOBODY: readonly Candidate[] = Object.freeze([]);

/** The common part of mutating and validating webhooks: selects the webhooks to call, and handles failed calls. */
export class Dispatch {
  readonly types: TypeLibrary;
  readonly #hooks: HookList;
  readonly #namespaces: Namespaces;
  readonly #clients: WebhookClients;
  readonly #mutating: boolean;
  readonly #isServing: () => boolean;
  readonly #onFailure: WebhookParts['onFailure'];

  constructor(parts: WebhookParts, kind: 'mutating' | 'validating') {
    const configurations: ResourceOf<WebhookConfiguration> = {
      group: 'admissionregistration.k8s.io',
      resource: `${kind}webhookconfigurations`,
    };
    this.types = parts.types;
    this.#hooks = new HookList(parts.objects.follow(configurations), parts.registry);
    this.#namespaces = new Namespaces(parts.objects);
    this.#clients = new WebhookClients(parts.objects, parts.credentials);
    this.#isServing = () => parts.isServing();
    this.#mutating = kind === 'mutating';
    this.#onFailure = (error) => parts.onFailure(error);
  }

  /** The webhooks whose rules match, in calling order. */
  candidates(attributes: AdmissionAttributes): readonly Candidate[] {
    return this.#isServing() ? this.#hooks.candidates(attributes) : NOBODY;
  }

  /** Whether the selectors and conditions of a candidate match, too. @throws StatusError */
  async isCalled(candidate: Candidate, attributes: AdmissionAttributes): Promise<boolean> {
    const { webhook } = candidate;
    if (!objectSelected(webhook.objectSelector, attributes)) return false;
    if (!(await this.#namespaces.selected(webhook.namespaceSelector, attributes))) return false;
    if (webhook.matchConditions.length === 0) return true;
    const request = requestOf(attributes, candidate);
    const answer = evaluateConditions(webhook.matchConditions, { ...seenBy(candidate, attributes), request });
    if ('matches' in answer) return answer.matches;
    if (webhook.ignoresFailures) return false;
    const { errors } = answer;
    const why = errors.length === 1 ? (errors[0] ?? '') : `[${errors.join(', ')}]`;
    throw forbidden(attributes.definition, attributes.name, why);
  }

  /**
   * Undefined: the call failed, and the webhook's failurePolicy ignores that; `note` is recorded then.
   * @throws StatusError
   */
  async call(
    candidate: Candidate,
    attributes: AdmissionAttributes,
    note: string,
  ): Promise<Verdict | undefined> {
    const callee = { clients: this.#clients, types: this.types, mutating: this.#mutating };
    try {
      return await callWebhook(callee, attributes, { candidate, objects: seenBy(candidate, attributes) });
    } catch (error) {
      if (!(error instanceof CallError)) throw error;
      if (!candidate.webhook.ignoresFailures) throw internalError(error.message, error);
      attributes.annotate(note, candidate.webhook.name);
      this.#onFailure(error);
      return undefined;
    }
  }
}

function seenBy(candidate: Candidate, attributes: AdmissionAttributes): SeenObjects {
  const see = (object: AdmissionAttributes['object']): JsonObject | null =>
    toWebhookForm(attributes, candidate, object);
  return { object: see(attributes.object), oldObject: see(attributes.old) };
}
