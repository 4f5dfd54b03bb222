import { afterEach, beforeEach, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/api/object-meta.ts';
import { StatusError } from '../../../src/api/status.ts';
import { toConverter } from '../../../src/custom-resources/conversion/webhook-converter.ts';
import { parseExactly } from '../../../src/object/exact-json.ts';
import { NOWHERE } from '../../../src/observability/tracing.ts';
import { type RemoteWebhook, startWebhook } from '../../kit/webhook-server.ts';
import {
  answering,
  answerTo,
  definitionFor,
  samplesOf,
  startConverter,
  V1,
  V2,
  widget,
} from './converter-kit.ts';

let webhook: RemoteWebhook;

beforeEach(async () => {
  webhook = await startWebhook();
  webhook.respond = answering((review) => answerTo(review));
});

afterEach(() => webhook[Symbol.asyncDispose]());

async function messageOf(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof StatusError)) throw new Error('there was no StatusError', { cause: error });
  expect(error.status.code).toBe(500);
  expect(error.status.reason).toBeUndefined();
  return error.message;
}

const convertOne = (reviewVersions?: readonly string[]) =>
  startConverter(definitionFor(webhook, reviewVersions)).converter.convert([widget('a')], V2);

const convertTwo = () =>
  startConverter(definitionFor(webhook)).converter.convert([widget('a'), widget('b')], V2);

test('only a definition with a webhook has a converter', () => {
  const definition = definitionFor(webhook);
  const none = { ...definition, spec: { ...definition.spec, conversion: { strategy: 'None' } } };
  expect(toConverter(none, {} as never)).toBeUndefined();
  expect(toConverter({ ...definition, spec: {} }, {} as never)).toBeUndefined();
});

test('the objects of a page are sent at once, those alone that have another version, and come back in order', async () => {
  webhook.respond = answering((review) =>
    answerTo(review, ({ spec, ...rest }) => ({
      ...rest,
      spec: { ...(spec as JsonObject), converted: true },
    })),
  );
  const { converter } = startConverter(definitionFor(webhook));
  const objects = [
    widget('a', V1, { spec: { n: 1 } }),
    widget('b', V2, { spec: { n: 2 } }),
    widget('c', 'example.com/v1beta1', { spec: { n: 3 } }),
  ];
  const converted = await converter.convert(objects, V2);
  expect(converted).toEqual([
    widget('a', V2, { spec: { n: 1, converted: true } }),
    widget('b', V2, { spec: { n: 2 } }),
    widget('c', V2, { spec: { n: 3, converted: true } }),
  ]);
  expect(converted[1]).toBe(objects[1]);
  expect(webhook.received).toEqual([
    {
      kind: 'ConversionReview',
      apiVersion: 'apiextensions.k8s.io/v1',
      request: {
        uid: expect.stringMatching(/^[\da-f-]{36}$/),
        desiredAPIVersion: V2,
        objects: [objects[0], objects[2]],
      },
      response: { uid: '', convertedObjects: null, result: { metadata: {} } },
    },
  ]);
  expect(webhook.requests[0]?.url).toBe('/convert?timeout=30s');
});

test('objects that have the version already are not sent to the webhook', async () => {
  const { converter } = startConverter(definitionFor(webhook));
  const objects = [widget('a', V2), widget('b', V2)];
  expect(await converter.convert(objects, V2)).toEqual(objects);
  expect(await converter.convert([], V2)).toEqual([]);
  expect(webhook.requests).toHaveLength(0);
});

test.each([
  [['v1', 'v1beta1'], 'v1'],
  [['v1beta1', 'v1'], 'v1beta1'],
  [['v7', 'v1beta1'], 'v1beta1'],
])('of the review versions %j it is asked in %s', async (accepted, version) => {
  await convertOne(accepted);
  expect(webhook.received[0].apiVersion).toBe(`apiextensions.k8s.io/${version}`);
});

test('a webhook that knows no version of the review is not asked', async () => {
  expect(await messageOf(convertOne(['v7']))).toBe('no supported conversion review versions');
  expect(webhook.requests).toHaveLength(0);
});

const FAILED = 'conversion webhook for example.com/v1, Kind=Widget failed: ';

test.each<[string, (answer: ReturnType<typeof answerTo>) => unknown, string | RegExp]>([
  [
    'another uid',
    ({ response, ...rest }) => ({ ...rest, response: { ...response, uid: 'other' } }),
    /^expected response\.uid="[\da-f-]{36}", got "other"$/,
  ],
  [
    'another kind',
    (answer) => ({ ...answer, kind: 'AdmissionReview' }),
    'expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview, got apiextensions.k8s.io/v1, Kind=AdmissionReview',
  ],
  [
    'another version',
    (answer) => ({ ...answer, apiVersion: 'apiextensions.k8s.io/v1beta1' }),
    'expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview, got apiextensions.k8s.io/v1beta1, Kind=ConversionReview',
  ],
  [
    'no type',
    ({ response }) => ({ response }),
    'expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview, got /, Kind=',
  ],
  ['no response', ({ kind, apiVersion }) => ({ kind, apiVersion }), 'no response provided'],
  [
    'its own reason',
    ({ response, ...rest }) => ({
      ...rest,
      response: { ...response, result: { status: 'Failure', message: 'no colour is called plaid' } },
    }),
    'no colour is called plaid',
  ],
  [
    'no reason',
    ({ response, ...rest }) => ({ ...rest, response: { ...response, result: { status: 'Failure' } } }),
    "response.result.status was 'Failure', not 'Success'",
  ],
  [
    'no result',
    ({ response, ...rest }) => ({ ...rest, response: { ...response, result: {} } }),
    "response.result.status was '', not 'Success'",
  ],
])('an answer with %s is a failure', async (_what, spoil, message) => {
  webhook.respond = answering((review) => spoil(answerTo(review)));
  const text = await messageOf(convertOne());
  expect(text.startsWith(FAILED)).toBe(true);
  expect(text.slice(FAILED.length)).toEqual(
    typeof message === 'string' ? message : expect.stringMatching(message),
  );
});

test('an answer in v1beta1 may have another uid and no type', async () => {
  webhook.respond = answering((review) => ({
    response: { ...answerTo(review).response, uid: 'other' },
  }));
  expect(await convertOne(['v1beta1'])).toEqual([widget('a', V2)]);
});

test('an answer in the other dialect of the group is one, too', async () => {
  webhook.respond = answering((review) => ({
    ...answerTo(review),
    apiVersion: 'apiextensions.cluster.io/v1',
  }));
  expect(await convertOne()).toEqual([widget('a', V2)]);
});

test.each([
  [[], 'returned 0 objects, expected 1'],
  [null, 'returned 0 objects, expected 1'],
  [[widget('a', V2), widget('a', V2)], 'returned 2 objects, expected 1'],
])('as many objects come back as were sent: %j', async (convertedObjects, text) => {
  webhook.respond = answering((review) => {
    const { response, ...rest } = answerTo(review);
    return { ...rest, response: { ...response, convertedObjects } };
  });
  expect(await messageOf(convertOne())).toBe(`conversion webhook for example.com/v1, Kind=Widget ${text}`);
});

const ONE = 'conversion webhook for example.com/v1, Kind=Widget returned ';
const LIST = 'conversion webhook for example.com/v2, Kind=WidgetList returned ';

const withMetadata =
  (change: JsonObject) =>
  ({ metadata, ...rest }: JsonObject): JsonObject => ({
    ...rest,
    metadata: { ...(metadata as JsonObject), ...change },
  });

test.each<[string, (object: JsonObject) => unknown, string, string]>([
  [
    'null',
    () => null,
    'unexpected end of JSON input',
    `${LIST}invalid converted object at index 1: unexpected end of JSON input`,
  ],
  [
    'a text',
    () => 'x',
    'json: cannot unmarshal string into Go value of type map[string]interface {}',
    `${LIST}invalid converted object at index 1: json: cannot unmarshal string into Go value of type map[string]interface {}`,
  ],
  [
    'no kind',
    () => ({ a: 1 }),
    `Object 'Kind' is missing in '{"a":1}'`,
    `${LIST}invalid converted object at index 1: Object 'Kind' is missing in '{"a":1}'`,
  ],
  [
    'the old version',
    (object) => ({ ...object, apiVersion: V1 }),
    `${ONE}invalid object at index 0: invalid groupVersion (expected example.com/v2, received example.com/v1)`,
    `${LIST}invalid converted object at index 1: invalid groupVersion (expected example.com/v2, received example.com/v1)`,
  ],
  [
    'another kind',
    (object) => ({ ...object, kind: 'Gadget' }),
    `${ONE}invalid object at index 0: invalid kind (expected Widget, received Gadget)`,
    `${LIST}invalid converted object at index 1: invalid kind (expected Widget, received Gadget)`,
  ],
  [
    'another name',
    withMetadata({ name: 'z' }),
    `${ONE}invalid object: must have the same name: a != z`,
    `${LIST}invalid converted object at index 1: must have the same name: b != z`,
  ],
  [
    'another namespace',
    withMetadata({ namespace: 'z' }),
    `${ONE}invalid object: must have the same namespace: n != z`,
    `${LIST}invalid converted object at index 1: must have the same namespace: n != z`,
  ],
  [
    'another uid',
    withMetadata({ uid: 'z' }),
    `${ONE}invalid object: must have the same UID: uid-a != z`,
    `${LIST}invalid converted object at index 1: must have the same UID: uid-b != z`,
  ],
  [
    'labels that are none',
    withMetadata({ labels: ['x'] }),
    `${ONE}invalid metadata: invalid metadata.labels of type []interface {} in converted object`,
    `${LIST}invalid metadata in object at index 1: invalid metadata.labels of type []interface {} in converted object`,
  ],
  [
    'a label that is no text',
    withMetadata({ labels: { x: 1 } }),
    `${ONE}invalid metadata: metadata.labels[x] must be a string, but is int64 in converted object`,
    `${LIST}invalid metadata in object at index 1: metadata.labels[x] must be a string, but is int64 in converted object`,
  ],
])('an object that comes back as %s is refused', async (_what, spoil, one, many) => {
  webhook.respond = answering((review) =>
    answerTo(review, (object) => ((object.metadata as JsonObject).name === 'a' ? spoil(object) : object)),
  );
  expect(await messageOf(convertOne())).toBe(one);
  webhook.respond = answering((review) =>
    answerTo(review, (object) => ((object.metadata as JsonObject).name === 'b' ? spoil(object) : object)),
  );
  expect(await messageOf(convertTwo())).toBe(many);
});

test('labels and annotations that are invalid are refused when they are new', async () => {
  const bad = { labels: { 'a b': 'c' } };
  webhook.respond = answering((review) => answerTo(review, withMetadata(bad)));
  expect(await messageOf(convertOne())).toMatch(
    /^conversion webhook for example.com\/v1, Kind=Widget returned invalid metadata: metadata.labels: Invalid value: "a b": name part must consist of/,
  );
  const { converter } = startConverter(definitionFor(webhook));
  const original = widget('a');
  const old = { ...original, metadata: { ...original.metadata, ...bad } };
  expect((await converter.convert([old], V2))[0]?.metadata.labels).toEqual(bad.labels);
  webhook.respond = answering((review) =>
    answerTo(review, withMetadata({ annotations: { '/': '', '//': '' } })),
  );
  expect(await messageOf(convertOne())).toMatch(
    /returned invalid metadata: \[metadata.annotation: .*, metadata.annotation: .*\]$/,
  );
});

test('of the metadata a webhook changes labels and annotations, and nothing else', async () => {
  webhook.respond = answering((review) =>
    answerTo(
      review,
      withMetadata({
        labels: null,
        annotations: { note: 'x' },
        generation: 99,
        finalizers: ['gone'],
        ownerReferences: [{ uid: 'x' }],
        managedFields: [],
        resourceVersion: '1',
      }),
    ),
  );
  const original = widget('a');
  const before = structuredClone(original);
  const { labels: _, ...kept } = original.metadata;
  const { converter } = startConverter(definitionFor(webhook));
  expect(await converter.convert([original], V2)).toEqual([
    { ...original, apiVersion: V2, metadata: { ...kept, annotations: { note: 'x' } } },
  ]);
  expect(original).toEqual(before);
});

test('an object without metadata is refused', async () => {
  webhook.respond = answering((review) => answerTo(review, ({ metadata: _, ...rest }) => rest));
  expect(await messageOf(convertOne())).toBe(`${ONE}invalid object: must have the same name: a != `);
});

test('integers keep their digits, and keys of prototypes are keys like any other, there and back', async () => {
  webhook.respond = (_request, response, body) =>
    void response
      .writeHead(200)
      .end(
        body
          .replace(/"apiVersion":"example.com\/v1"/, '"apiVersion":"example.com/v2"')
          .replace(
            /"request":\{("uid":"[^"]*"),.*"objects":(\[.*\])\},"response".*$/,
            '"response":{$1,"result":{"status":"Success"},"convertedObjects":$2}}',
          ),
      );
  const spec = parseExactly('{"n":9007199254740993,"__proto__":{"constructor":1}}') as JsonObject;
  const { converter } = startConverter(definitionFor(webhook));
  const [converted] = await converter.convert([widget('a', V1, { spec })], V2);
  expect(JSON.stringify(converted?.spec)).toBe('{"n":9007199254740993,"__proto__":{"constructor":1}}');
});

test('an answer that is no success says what it is', async () => {
  webhook.respond = (_request, response) => void response.writeHead(500).end('out of paint');
  expect(await messageOf(convertOne())).toBe(
    `${FAILED}an error on the server ("out of paint") has prevented the request from succeeding`,
  );
  webhook.respond = (_request, response) => void response.writeHead(404).end();
  expect(await messageOf(convertOne())).toBe(`${FAILED}the server could not find the requested resource`);
});

test.each([
  ['no JSON', 'hello', /^couldn't get version\/kind; json parse error: /],
  ['a list', '[]', /^couldn't get version\/kind; json parse error: json: cannot unmarshal array/],
  ['nothing', '', /^couldn't get version\/kind; json parse error: /],
  ['a response of another type', '{"response":3}', /^json: cannot unmarshal number/],
])('an answer that is %s is a failed call', async (_what, body, message) => {
  webhook.respond = (_request, response) => void response.writeHead(200).end(body);
  const text = await messageOf(convertOne());
  expect(text.startsWith(FAILED)).toBe(true);
  expect(text.slice(FAILED.length)).toMatch(message);
});

test('a webhook that is away, or that another authority certifies, is named with its address', async () => {
  const definition = definitionFor(webhook);
  const stranger = await startWebhook();
  const { clientConfig = {} } = definition.spec?.conversion?.webhook ?? {};
  const { converter: trusting } = startConverter({
    ...definition,
    spec: {
      ...definition.spec,
      conversion: {
        strategy: 'Webhook',
        webhook: {
          conversionReviewVersions: ['v1'],
          clientConfig: { ...clientConfig, caBundle: Buffer.from(stranger.ca).toString('base64') },
        },
      },
    },
  });
  await stranger[Symbol.asyncDispose]();
  const url = webhook.url.replace('/events', '/convert');
  expect(await messageOf(trusting.convert([widget('a')], V2))).toMatch(
    `${FAILED}Post "${url}?timeout=30s": tls: failed to verify certificate: x509:`,
  );
  const { converter } = startConverter(definition);
  await webhook.stop();
  expect(await messageOf(converter.convert([widget('a')], V2))).toBe(
    `${FAILED}Post "${url}?timeout=30s": dial tcp 127.0.0.1:${webhook.port}: connect: connection refused`,
  );
  await webhook.start();
  expect(await converter.convert([widget('a')], V2)).toEqual([widget('a', V2)]);
});

test('a webhook that dies in the middle of its answer, or that drips it, is a failed call', async () => {
  webhook.respond = (_request, response) => {
    response.writeHead(200).write('{"kind":');
    setTimeout(() => response.destroy(), 20);
  };
  expect(await messageOf(convertOne())).toMatch(new RegExp(`^${FAILED}Post "`));
  webhook.respond = (_request, response) => {
    response.writeHead(200);
    const timer = setInterval(() => response.write(' '), 10);
    response.once('close', () => clearInterval(timer));
  };
  const { converter } = startConverter(definitionFor(webhook), { timeoutMs: 200 });
  const url = webhook.url.replace('/events', '/convert');
  expect(await messageOf(converter.convert([widget('a')], V2))).toBe(
    `${FAILED}Post "${url}?timeout=0.2s": context deadline exceeded`,
  );
});

test('an answer that is much longer than its question is not read to its end', async () => {
  webhook.respond = (_request, response) => {
    response.writeHead(200);
    const block = Buffer.alloc(64 * 1024, 0x20);
    const more = (): void => {
      while (response.write(block)) if (response.destroyed) return;
      response.once('drain', more);
    };
    more();
  };
  expect(await messageOf(convertOne())).toMatch(/the answer is longer than 10\d{5} bytes/);
});

test('more objects than fit into one call are sent with several, and all of them or none come back', async () => {
  const { converter } = startConverter(definitionFor(webhook), { maxCallBytes: 1000 });
  const objects = Array.from({ length: 20 }, (_, at) => widget(`w${at}`));
  const converted = await converter.convert(objects, V2);
  expect(converted.map(({ metadata }) => metadata.name)).toEqual(
    objects.map(({ metadata }) => metadata.name),
  );
  expect(converted.every(({ apiVersion }) => apiVersion === V2)).toBe(true);
  const sizes = webhook.received.map(({ request }) => request.objects.length);
  expect(sizes.length).toBeGreaterThan(2);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(20);
  // One object alone may be larger than the bound.
  const [large] = await converter.convert([widget('large', V1, { spec: { text: 'x'.repeat(5000) } })], V2);
  expect(large?.apiVersion).toBe(V2);
  webhook.respond = answering((review) =>
    answerTo(review, (object) =>
      (object.metadata as JsonObject).name === 'w19' ? { ...object, kind: 'X' } : object,
    ),
  );
  await expect(converter.convert(objects, V2)).rejects.toThrow('invalid kind (expected Widget, received X)');
});

test('calls are counted and timed, by result, versions and cause', async () => {
  const { converter, metrics } = startConverter(definitionFor(webhook));
  await converter.convert([widget('a')], V2);
  webhook.respond = answering((review) => answerTo(review, (object) => ({ ...object, kind: 'X' })));
  await expect(converter.convert([widget('a')], V2)).rejects.toThrow();
  webhook.respond = answering(() => ({}));
  await expect(converter.convert([widget('a')], V2)).rejects.toThrow();
  webhook.respond = answering((review) => ({
    ...answerTo(review),
    response: { ...answerTo(review).response, convertedObjects: [] },
  }));
  await expect(converter.convert([widget('a')], V2)).rejects.toThrow();
  webhook.respond = (_request, response) => void response.writeHead(503).end();
  await expect(converter.convert([widget('a')], V2)).rejects.toThrow();
  expect(await samplesOf(metrics, 'apiserver_conversion_webhook_request_total')).toEqual([
    '{result="success",failure_type=""} 1',
    '{result="failure",failure_type="conversion_webhook_invalid_converted_object_failure"} 1',
    '{result="failure",failure_type="conversion_webhook_malformed_response_failure"} 1',
    '{result="failure",failure_type="conversion_webhook_partial_response_failure"} 1',
    '{result="failure",failure_type="conversion_webhook_call_failure"} 1',
  ]);
  expect(await samplesOf(metrics, 'apiserver_crd_conversion_webhook_duration_seconds_count')).toEqual([
    '{crd_name="widgets.example.com",from_version="v1",to_version="v2",succeeded="true"} 1',
    '{crd_name="widgets.example.com",from_version="v1",to_version="v2",succeeded="false"} 4',
  ]);
  expect(await samplesOf(metrics, 'apiserver_conversion_webhook_duration_seconds_count')).toHaveLength(5);
});

test('a call is a span of the request that needs it', async () => {
  const spans: [string, object][] = [];
  const { converter } = startConverter(
    definitionFor(webhook),
    {},
    {
      request: (_span, work) => work(NOWHERE),
      part: (name, attributes, work) => {
        spans.push([name, attributes]);
        return work(NOWHERE);
      },
      close: async () => {},
    },
  );
  await converter.convert([widget('a'), widget('b')], V2);
  expect(spans).toEqual([
    [
      'Call conversion webhook',
      {
        'custom-resource-definition': 'widgets.example.com',
        'desired-api-version': V2,
        'object-count': 2,
        UID: webhook.received[0].request.uid,
      },
    ],
  ]);
});
