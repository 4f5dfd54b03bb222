import { answerProblem, transportText } from '../../admission/webhooks/call-webhook.ts';
import { urlOf, type WebhookClients } from '../../admission/webhooks/clients.ts';
import { type ClientConfig, toClientConfig } from '../../admission/webhooks/webhook.ts';
import type { TypeLibrary } from '../../api/idl/types.ts';
import type { ApiObject, JsonValue } from '../../api/object-meta.ts';
import { type StatusError, tooManyRequests, unknownError } from '../../api/status.ts';
import type { CustomResourceDefinition, WebhookClientConfig } from '../../api/types/apiextensions/v1.ts';
import type { Tracing } from '../../observability/tracing.ts';
import type { Answer } from '../../outbound/webhook-client.ts';
import { errorText } from '../../util/error-text.ts';
import { NEVER } from '../../util/pause.ts';
import { mapInTurns, Pace } from '../../util/turns.ts';
import { CallGate, CallRefused, type GateLimits } from './call-gate.ts';
import type { ConversionFailure, ConversionMetrics } from './conversion-metrics.ts';
import {
  convertedObjects,
  createReview,
  decodeReview,
  type ReviewVersion,
  reviewVersionOf,
} from './conversion-review.ts';
import { assertSameIdentity, assertSameType, readConverted, withMetadataOf } from './converted-object.ts';

/** The parts that all converters share. */
export interface ConversionParts {
  readonly clients: Pick<WebhookClients, 'find'>;
  readonly types: TypeLibrary;
  readonly tracing: Tracing;
  readonly metrics: ConversionMetrics;
  readonly limits?: Partial<ConversionLimits>;
}

interface ConversionLimits {
  readonly timeoutMs: number;
  /** Most bytes of JSON in a call. A single object may exceed it. */
  readonly maxCallBytes: number;
  readonly gate: GateLimits;
}

/** As long as in Kubernetes. */
const TIMEOUT_MS = 30_000;
/** Parsing an answer of 1 MB blocks the event loop for 10 ms. */
const MAX_CALL_BYTES = 1024 * 1024;
/** Limits of an answer relative to its request. */
const ANSWER_FACTOR = 3;
const ANSWER_EXTRA_BYTES = 1024 * 1024;

/** Undefined: versions differ only in apiVersion. */
export function toConverter(
  definition: CustomResourceDefinition,
  parts: ConversionParts,
): WebhookConverter | undefined {
  return definition.spec?.conversion?.strategy === 'Webhook'
    ? new WebhookConverter(definition, parts)
    : undefined;
}

/**
 * Converts objects between the versions of one definition by calling its webhook. Each state of the definition has its own
 * converter.
 */
export class WebhookConverter {
  readonly #definition: string;
  readonly #listKind: string;
  readonly #clientConfig: WebhookClientConfig;
  #client: ClientConfig | undefined;
  readonly #reviewVersions: readonly string[];
  readonly #parts: ConversionParts;
  readonly #limits: Omit<ConversionLimits, 'gate'>;
  readonly #gate: CallGate;

  constructor({ metadata, spec }: CustomResourceDefinition, parts: ConversionParts) {
    const { clientConfig = {}, conversionReviewVersions } = spec?.conversion?.webhook ?? {};
    this.#definition = metadata.name ?? '';
    this.#listKind = spec?.names?.listKind ?? '';
    this.#clientConfig = clientConfig;
    this.#reviewVersions = conversionReviewVersions ?? [];
    this.#parts = parts;
    this.#limits = { timeoutMs: TIMEOUT_MS, maxCallBytes: MAX_CALL_BYTES, ...parts.limits };
    this.#gate = new CallGate(parts.limits?.gate);
  }

  /**
   * Returns the objects in another version, in order; those that have it already are the same objects. A call contains as many
   * as fit. Do not change them meanwhile.
   * @throws StatusError
   */
  async convert(objects: readonly ApiObject[], toApiVersion: string): Promise<ApiObject[]> {
    const converted = [...objects];
    let batch: Batch = { places: [], texts: [], bytes: 0 };
    const pace = new Pace({ stepsBetween: 8 });
    for (const [at, object] of objects.entries()) {
      if (object.apiVersion === toApiVersion) continue;
      if (pace.isOver()) await pace.rest();
      const text = JSON.stringify(object);
      if (batch.places.length > 0 && batch.bytes + text.length > this.#limits.maxCallBytes) {
        await this.#convertBatch(batch, converted, toApiVersion);
        batch = { places: [], texts: [], bytes: 0 };
      }
      batch.places.push(at);
      batch.texts.push(text);
      batch.bytes += text.length;
    }
    if (batch.places.length > 0) await this.#convertBatch(batch, converted, toApiVersion);
    return converted;
  }

  /** Puts the converted objects into the places of the batch. */
  async #convertBatch(batch: Batch, objects: ApiObject[], toApiVersion: string): Promise<void> {
    const originals = batch.places.flatMap((at) => objects[at] ?? []);
    const [first] = originals;
    if (first === undefined) return;
    const about = {
      originals,
      texts: batch.texts,
      toApiVersion,
      subject: this.#subject(originals, toApiVersion),
    };
    const started = performance.now();
    const names = {
      definition: this.#definition,
      fromVersion: versionOf(first.apiVersion),
      toVersion: versionOf(toApiVersion),
    };
    const observe = (failure?: ConversionFailure): void =>
      this.#parts.metrics.observe((performance.now() - started) / 1000, names, failure);
    try {
      const converted = await this.#ask(about);
      for (const [at, place] of batch.places.entries()) objects[place] = converted[at] ?? first;
      observe();
    } catch (error) {
      if (!(error instanceof ConversionError)) throw error;
      observe(error.failure);
      throw toStatus(error);
    }
  }

  /** The subject of messages. */
  #subject(originals: readonly ApiObject[], toApiVersion: string): string {
    const [first] = originals;
    const apiVersion = originals.length === 1 ? first?.apiVersion : toApiVersion;
    const kind = originals.length === 1 ? first?.kind : this.#listKind;
    return `conversion webhook for ${apiVersion}, Kind=${kind}`;
  }

  async #ask(question: Question): Promise<ApiObject[]> {
    const version = this.#reviewVersion();
    const { toApiVersion, texts, originals, subject } = question;
    const { uid, body } = createReview(version, toApiVersion, texts);
    const span = {
      'custom-resource-definition': this.#definition,
      'desired-api-version': toApiVersion,
      'object-count': originals.length,
      UID: uid,
    };
    const answer = await this.#parts.tracing.part('Call conversion webhook', span, () =>
      this.#post(body, subject),
    );
    const values = this.#read(answer, { version, uid, subject });
    if (values.length !== originals.length) {
      const why = `${subject} returned ${values.length} objects, expected ${originals.length}`;
      throw new ConversionError('conversion_webhook_partial_response_failure', why);
    }
    return mapInTurns(values, (value, at) => toObject(value, at, question));
  }

  #reviewVersion(): ReviewVersion {
    try {
      return reviewVersionOf(this.#reviewVersions);
    } catch (error) {
      throw new ConversionError('conversion_webhook_call_failure', errorText(error), { cause: error });
    }
  }

  async #post(body: Buffer, subject: string): Promise<Answer> {
    const { timeoutMs } = this.#limits;
    const query = `timeout=${timeoutMs / 1000}s`;
    this.#client ??= toClientConfig(this.#clientConfig);
    const client = this.#client;
    try {
      return await this.#gate.run(() =>
        this.#parts.clients.find(client).post(body, {
          timeoutMs,
          signal: NEVER,
          maxAnswerBytes: body.length * ANSWER_FACTOR + ANSWER_EXTRA_BYTES,
          query,
        }),
      );
    } catch (error) {
      const url = urlOf(client);
      const why =
        error instanceof CallRefused ? error.message : `Post "${url}?${query}": ${transportText(error, url)}`;
      throw new ConversionError('conversion_webhook_call_failure', `${subject} failed: ${why}`, {
        cause: error,
      });
    }
  }

  #read(
    answer: Answer,
    {
      version,
      uid,
      subject,
    }: { readonly version: ReviewVersion; readonly uid: string; readonly subject: string },
  ): readonly JsonValue[] {
    const problem = answerProblem(answer);
    if (problem !== undefined)
      throw new ConversionError('conversion_webhook_call_failure', `${subject} failed: ${problem}`);
    const review = failing('conversion_webhook_call_failure', subject, () =>
      decodeReview(answer.body, this.#parts.types),
    );
    return failing('conversion_webhook_malformed_response_failure', subject, () =>
      convertedObjects(review, version, uid),
    );
  }
}

interface Batch {
  readonly places: number[];
  readonly texts: string[];
  bytes: number;
}

interface Question {
  readonly originals: readonly ApiObject[];
  readonly texts: readonly string[];
  readonly toApiVersion: string;
  readonly subject: string;
}

/** The conversion failed. */
class ConversionError extends Error {
  readonly failure: ConversionFailure;

  constructor(failure: ConversionFailure, message: string, options?: ErrorOptions) {
    super(message, options);
    this.failure = failure;
  }
}

/** A busy webhook answers a retry. */
const toStatus = (error: ConversionError): StatusError =>
  error.cause instanceof CallRefused && error.cause.webhook === 'busy'
    ? tooManyRequests(error.message, 1)
    : unknownError(error.message, error);

function failing<Result>(failure: ConversionFailure, subject: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw new ConversionError(failure, `${subject} failed: ${errorText(error)}`, { cause: error });
  }
}

const versionOf = (apiVersion: string): string => apiVersion.slice(apiVersion.lastIndexOf('/') + 1);

/** @throws ConversionError with a message for one object, or for one of many */
function toObject(value: JsonValue, at: number, { originals, toApiVersion, subject }: Question): ApiObject {
  const original = originals[at];
  if (original === undefined) throw new Error('an object that was not asked for');
  const words = originals.length === 1 ? wordsForOne(subject) : wordsForMany(subject, at);
  const object = wrapping(words.unreadable, () => readConverted(value));
  wrapping(words.type, () => assertSameType(original, object, toApiVersion));
  wrapping(words.identity, () => assertSameIdentity(original, object));
  return wrapping(words.metadata, () => withMetadataOf(original, object));
}

/** How messages about an invalid object begin, by the kind of error. */
type Words = Readonly<Record<'unreadable' | 'type' | 'identity' | 'metadata', string>>;

const wordsForOne = (subject: string): Words => ({
  unreadable: '',
  type: `${subject} returned invalid object at index 0: `,
  identity: `${subject} returned invalid object: `,
  metadata: `${subject} returned invalid metadata: `,
});

function wordsForMany(subject: string, at: number): Words {
  const invalid = `${subject} returned invalid converted object at index ${at}: `;
  const metadata = `${subject} returned invalid metadata in object at index ${at}: `;
  return { unreadable: invalid, type: invalid, identity: invalid, metadata };
}

function wrapping<Result>(words: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    const failure = 'conversion_webhook_invalid_converted_object_failure';
    throw new ConversionError(failure, words + errorText(error), { cause: error });
  }
}
