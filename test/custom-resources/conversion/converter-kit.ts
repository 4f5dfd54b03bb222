import { WebhookClients } from '../../../src/admission/webhooks/clients.ts';
import { loadTypes } from '../../../src/api/idl/types.ts';
import type { ApiObject, JsonObject } from '../../../src/api/object-meta.ts';
import type { CustomResourceDefinition } from '../../../src/api/types/apiextensions/v1.ts';
import { ConversionMetrics } from '../../../src/custom-resources/conversion/conversion-metrics.ts';
import {
  type ConversionParts,
  WebhookConverter,
} from '../../../src/custom-resources/conversion/webhook-converter.ts';
import { Metrics } from '../../../src/observability/metrics.ts';
import { NO_TRACING, type Tracing } from '../../../src/observability/tracing.ts';
import type { RemoteWebhook } from '../../kit/webhook-server.ts';

export const V1 = 'example.com/v1';
export const V2 = 'example.com/v2';

export const widget = (name: string, apiVersion = V1, rest: JsonObject = {}): ApiObject => ({
  kind: 'Widget',
  apiVersion,
  metadata: { name, namespace: 'n', uid: `uid-${name}`, generation: 3, labels: { app: 'a' } },
  ...rest,
});

export const definitionFor = (
  webhook: RemoteWebhook,
  reviewVersions: readonly string[] = ['v1'],
): CustomResourceDefinition => ({
  kind: 'CustomResourceDefinition',
  apiVersion: 'apiextensions.k8s.io/v1',
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    names: { plural: 'widgets', kind: 'Widget', listKind: 'WidgetList' },
    conversion: {
      strategy: 'Webhook',
      webhook: {
        conversionReviewVersions: [...reviewVersions],
        clientConfig: {
          url: webhook.url.replace('/events', '/convert'),
          caBundle: Buffer.from(webhook.ca).toString('base64'),
        },
      },
    },
  },
});

export interface TestedConverter {
  readonly converter: WebhookConverter;
  readonly metrics: Metrics;
}

export function startConverter(
  definition: CustomResourceDefinition,
  limits: ConversionParts['limits'] = {},
  tracing: Tracing = NO_TRACING,
): TestedConverter {
  const metrics = new Metrics();
  const parts = conversionParts({ limits, tracing, metrics: new ConversionMetrics(metrics) });
  return { converter: new WebhookConverter(definition, parts), metrics };
}

const noService = async (): Promise<never> => {
  throw new Error('there are no services');
};

/** For webhooks with a URL: there are no services. */
export const conversionParts = (given: Partial<ConversionParts> = {}): ConversionParts => ({
  clients: new WebhookClients(noService, { users: undefined, pair: undefined }),
  types: loadTypes(),
  tracing: NO_TRACING,
  metrics: new ConversionMetrics(new Metrics()),
  ...given,
});

export interface Review {
  readonly apiVersion: string;
  readonly request: {
    readonly uid: string;
    readonly desiredAPIVersion: string;
    readonly objects: ApiObject[];
  };
}

/** An honest answer: each object in the version asked for, and as `change` has it. */
export function answerTo(
  { apiVersion, request }: Review,
  change: (object: JsonObject) => unknown = (object) => object,
): { kind: string; apiVersion: string; response: JsonObject } {
  const { uid, desiredAPIVersion, objects } = request;
  const convertedObjects = objects.map((object) => change({ ...object, apiVersion: desiredAPIVersion }));
  return {
    kind: 'ConversionReview',
    apiVersion,
    response: { uid, convertedObjects: convertedObjects as never, result: { status: 'Success' } },
  };
}

export const answering =
  (make: (review: Review) => unknown): RemoteWebhook['respond'] =>
  (_request, response, body) =>
    void response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify(make(JSON.parse(body))));

/** The samples of a metric, `labels value`. */
export async function samplesOf(metrics: Metrics, name: string): Promise<string[]> {
  const lines = (await metrics.text()).split('\n');
  return lines.filter((line) => line.startsWith(`${name}{`)).map((line) => line.slice(name.length));
}
