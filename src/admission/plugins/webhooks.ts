import type { ApiObject, JsonValue } from '../../api/object-meta.ts';
import { internalError, StatusError } from '../../api/status.ts';
import { assertWithinLimits } from '../../object/document-limits.ts';
import { equal } from '../../object/equality.ts';
import { parseAsWritten, parseJson } from '../../object/exact-json.ts';
import { goEscaped } from '../../object/go-json.ts';
import { applyJsonPatch } from '../../object/json-patch.ts';
import { jsonSyntaxError } from '../../object/json-syntax-error.ts';
import { isObject } from '../../object/json-values.ts';
import { showWritten } from '../../object/written-number.ts';
import type { ActiveSpan } from '../../observability/tracing.ts';
import { errorText } from '../../util/error-text.ts';
import type { AdmissionAttributes, AdmissionPlugin, Reinvocation } from '../admission.ts';
import { describePlugin } from '../plugin.ts';
import {
  fromMatchedForm,
  keepNamespace,
  keepReadableOwners,
  replaceContent,
  toMatchedForm,
} from '../request-form.ts';
import { type Round, Rounds } from '../rounds.ts';
import type { Verdict } from '../webhooks/admission-review.ts';
import { CallError, type Take } from '../webhooks/call-webhook.ts';
import { Dispatch, toWebhookParts, type WebhookNeeds, type WebhookParts } from '../webhooks/dispatch.ts';
import type { Candidate, Webhook } from '../webhooks/webhook.ts';

const MUTATION = 'mutation.webhook.admission.k8s.io/';
const PATCH = 'patch.webhook.admission.k8s.io/';

/**
 * Calls mutating webhooks one after the other. Each sees the object as the ones before left it, in the version that it asked for.
 * A patch is applied to that form; the result is decoded by its type, gets its defaults and becomes the content of
 * `attributes.object`, which stays the same object because the writer and later plugins refer to it. A change makes all plugins
 * run once more, and those webhooks with reinvocationPolicy IfNeeded that were called before the change (Kubernetes:
 * apiserver/pkg/admission/plugin/webhook/mutating).
 */
export function createMutatingWebhooks(parts: WebhookParts): AdmissionPlugin {
  const plugin = new MutatingWebhooks(new Dispatch(parts, 'Mutating'));
  return {
    name: 'MutatingAdmissionWebhook',
    operations: ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'],
    mutate: (attributes) => plugin.mutate(attributes),
  };
}

/** A patch in progress. */
interface Applying {
  readonly attributes: AdmissionAttributes;
  /** `round_0_index_3` */
  readonly place: string;
  readonly span: ActiveSpan;
}

class MutatingWebhooks {
  readonly #dispatch: Dispatch;
  readonly #rounds = new Rounds();

  constructor(dispatch: Dispatch) {
    this.#dispatch = dispatch;
  }

  mutate(attributes: AdmissionAttributes): Promise<Reinvocation> | undefined {
    const candidates = this.#dispatch.candidates(attributes);
    return candidates.length === 0 ? undefined : this.#run(candidates, attributes);
  }

  async #run(candidates: readonly Candidate[], attributes: AdmissionAttributes): Promise<Reinvocation> {
    const managedFields = attributes.object?.metadata.managedFields;
    const round = this.#rounds.begin(attributes);
    for (const candidate of candidates) await this.#ask(candidate, attributes, round);
    keepReadableOwners(attributes, managedFields);
    return round.end(attributes.object);
  }

  async #ask(candidate: Candidate, attributes: AdmissionAttributes, round: Round): Promise<void> {
    const { webhook, index } = candidate;
    if (!(await this.#dispatch.isCalled(candidate, attributes))) return;
    if (!round.includes(webhook.key)) return;
    const place = `round_${round.number}_index_${index}`;
    const { configuration, name } = webhook;
    let changed = false;
    try {
      const note = `failed-open.${MUTATION}${place}`;
      const take: Take<boolean> = (verdict, span) =>
        this.#apply(verdict, candidate, { attributes, place, span });
      changed = (await this.#dispatch.call(candidate, attributes, { note, take })) ?? false;
    } finally {
      const value = JSON.stringify({ configuration, webhook: name, mutated: changed });
      attributes.annotate(`${MUTATION}${place}`, value);
    }
    if (changed) round.changed();
    if (webhook.reinvokes) round.waits(webhook.key);
  }

  /** Returns whether the object has changed. @throws StatusError for a patch that cannot be applied */
  async #apply(
    { patch, patchType }: Verdict,
    candidate: Candidate,
    { attributes, place, span }: Applying,
  ): Promise<boolean> {
    const operations = patch === undefined ? [] : patchOf(patch);
    if (Array.isArray(operations) && operations.length === 0) return false;
    const { webhook } = candidate;
    const { object } = attributes;
    if (object === undefined)
      throw internalError(
        `admission webhook ${JSON.stringify(webhook.name)} attempted to modify the object, which is not supported for this operation`,
      );
    if (patchType !== 'JSONPatch')
      throw new CallError(webhook, `unsupported patch type ${JSON.stringify(patchType)}`);
    const next = await this.#patched({ ...attributes, object }, candidate, operations).catch(blame);
    span.event('Patch applied');
    attributes.annotate(`${PATCH}${place}`, toPatchNote(webhook, operations), 'Request');
    if (next === undefined) return false;
    keepNamespace(attributes, next);
    replaceContent(object, next);
    return true;
  }

  /** Undefined: unchanged. Decoding alone may change what plugins have added, so both states are compared after decoding. */
  async #patched(
    attributes: AdmissionAttributes & { readonly object: ApiObject },
    candidate: Candidate,
    operations: JsonValue,
  ): Promise<ApiObject | undefined> {
    const { types } = this.#dispatch;
    const given = (await toMatchedForm(attributes, candidate, attributes.object)) ?? {};
    const value = applyJsonPatch(given, operations);
    if (!isObject(value))
      throw new Error('json: cannot unmarshal array into Go value of type map[string]interface {}');
    const next = await fromMatchedForm(attributes, candidate, { value, types });
    const before = await fromMatchedForm(attributes, candidate, { value: given, types });
    return equal(before, next) ? undefined : next;
  }
}

/** The value of the annotation that shows a patch, as Go writes it. */
function toPatchNote({ configuration, name }: Webhook, operations: JsonValue): string {
  const patch = (Array.isArray(operations) ? operations : []).map(toOperationNote).join(',');
  const head = goEscaped(JSON.stringify({ configuration, webhook: name }).slice(0, -1));
  return `${head},"patch":[${patch}],"patchType":"JSONPatch"}`;
}

/** An operation is a map, whose keys Go sorts; its values stay as they are written. */
function toOperationNote(operation: JsonValue): string {
  if (!isObject(operation)) return 'null';
  const fields = Object.keys(operation)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${JSON.stringify(operation[key] ?? null, showWritten)}`);
  return goEscaped(`{${fields.join(',')}}`);
}

function patchOf(patch: Buffer): JsonValue {
  const error = jsonSyntaxError(patch);
  if (error !== undefined) throw internalError(error);
  return internally(() => readPatch(patch.toString('utf8'))) ?? [];
}

/** Distinguishes `1.0` from `1` where a number has a point or an exponent: the result is decoded like a body. */
const readPatch = (text: string): JsonValue =>
  /\d[.eE]/.test(text) ? withinLimits(parseAsWritten(text)) : parseJson(text);

/** @throws SyntaxError, StatusError 413 */
function withinLimits(value: JsonValue): JsonValue {
  assertWithinLimits(value);
  return value;
}

/** @throws StatusError */
function internally<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    return blame(error);
  }
}

/** An error in a patch is the webhook's fault, not the client's. @throws StatusError */
function blame(error: unknown): never {
  if (error instanceof StatusError) throw error;
  throw internalError(errorText(error), error);
}

export const mutatingWebhooks = describePlugin({
  name: 'MutatingAdmissionWebhook',
  isDefault: true,
  create: (parts: WebhookNeeds) => createMutatingWebhooks(toWebhookParts(parts, 'Mutating')),
});

const FAILED_OPEN = 'failed-open.validating.webhook.admission.k8s.io/round_0_index_';

/**
 * Calls validating webhooks at the same time; the first refusal is the answer, once all have answered (Kubernetes:
 * apiserver/pkg/admission/plugin/webhook/validating).
 */
export function createValidatingWebhooks(parts: WebhookParts): AdmissionPlugin {
  const dispatch = new Dispatch(parts, 'Validating');
  return {
    name: 'ValidatingAdmissionWebhook',
    operations: ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'],
    validate: (attributes) => {
      const candidates = dispatch.candidates(attributes);
      return candidates.length === 0 ? undefined : ask(dispatch, candidates, attributes);
    },
  };
}

async function ask(
  dispatch: Dispatch,
  candidates: readonly Candidate[],
  attributes: AdmissionAttributes,
): Promise<void> {
  const called: Candidate[] = [];
  for (const candidate of candidates)
    if (await dispatch.isCalled(candidate, attributes)) called.push(candidate);
  const failures: unknown[] = [];
  const calls = called.map((candidate, index) =>
    dispatch
      .call(candidate, attributes, { note: `${FAILED_OPEN}${index}`, take: () => undefined })
      .catch((error: unknown) => {
        failures.push(error);
      }),
  );
  await Promise.all(calls);
  if (failures.length > 0) throw failures[0];
}

export const validatingWebhooks = describePlugin({
  name: 'ValidatingAdmissionWebhook',
  isDefault: true,
  create: (parts: WebhookNeeds) => createValidatingWebhooks(toWebhookParts(parts, 'Validating')),
});
