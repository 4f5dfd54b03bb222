import { expect, test } from 'vitest';
import { requestOf } from '../../src/admission/request-form.ts';
import {
  createReview,
  decodeReview,
  reviewVersionOf,
  toVerdict,
} from '../../src/admission/webhooks/admission-review.ts';
import { answerProblem, toRefusal } from '../../src/admission/webhooks/call-webhook.ts';
import { credentialsFor, readWebhookConfig, urlOf } from '../../src/admission/webhooks/clients.ts';
import { type Candidate, toWebhooks } from '../../src/admission/webhooks/webhook.ts';
import { loadTypes } from '../../src/api/idl/types.ts';
import type { JsonObject } from '../../src/api/object-meta.ts';
import { attributesOf, toObject } from '../kit/admission.ts';

const types = loadTypes();
const [webhook] = toWebhooks([toObject({ webhooks: [{ name: 'w.example.com' }] })]);
if (webhook === undefined) throw new Error('no webhook');

const attributes = attributesOf('apps/deployments', {
  operation: 'UPDATE',
  object: toObject({ metadata: { name: 'd' } }),
  user: { username: 'jane', uid: 'u1', groups: ['a'], extra: { scopes: ['x', 'y'] } },
});
const served = attributes.definition.versions[0];
if (served === undefined) throw new Error('no version');
const candidate: Candidate = {
  webhook,
  index: 0,
  served: { definition: attributes.definition, version: served },
  kind: { group: 'apps', version: 'v1', kind: 'Deployment' },
};

test('a review says who does what to which object', () => {
  const objects = { object: { kind: 'Deployment' }, oldObject: null };
  const { uid, review } = createReview('v1', attributes, { candidate, objects });
  expect(review).toEqual({
    kind: 'AdmissionReview',
    apiVersion: 'admission.k8s.io/v1',
    request: {
      uid,
      kind: { group: 'apps', version: 'v1', kind: 'Deployment' },
      resource: { group: 'apps', version: 'v1', resource: 'deployments' },
      requestKind: { group: 'apps', version: 'v1', kind: 'Deployment' },
      requestResource: { group: 'apps', version: 'v1', resource: 'deployments' },
      name: 'd',
      namespace: 'default',
      operation: 'UPDATE',
      userInfo: { username: 'jane', uid: 'u1', groups: ['a'], extra: { scopes: ['x', 'y'] } },
      object: { kind: 'Deployment' },
      oldObject: null,
      dryRun: false,
      options: null,
    },
  });
});

test('the namespace of a namespace is itself', () => {
  const namespace = attributesOf('namespaces', { object: toObject({ metadata: { name: 'n' } }) });
  expect(requestOf(namespace, candidate)).toMatchObject({ name: 'n', namespace: 'n' });
});

test('the first version that both sides know is spoken', () => {
  expect(reviewVersionOf(['v9', 'v1beta1', 'v1'])).toBe('v1beta1');
  expect(() => reviewVersionOf(['v9'])).toThrow(
    'webhook does not accept known AdmissionReview versions (v1, v1beta1)',
  );
});

const V1 = { kind: 'AdmissionReview', apiVersion: 'admission.k8s.io/v1' };
const patch = Buffer.from('[]').toString('base64');

test.each<[string, boolean, JsonObject, string]>([
  ['no response', true, V1, 'webhook response was absent'],
  ['another uid', true, { ...V1, response: { uid: 'b' } }, 'expected response.uid="a", got "b"'],
  [
    'another type',
    true,
    { response: { uid: 'a' } },
    'expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got /, Kind=',
  ],
  [
    'a patch without a type',
    true,
    { ...V1, response: { uid: 'a', patch } },
    'webhook returned response.patch but not response.patchType',
  ],
  [
    'a type without a patch',
    true,
    { ...V1, response: { uid: 'a', patchType: 'JSONPatch' } },
    'webhook returned response.patchType but not response.patch',
  ],
  [
    'a type that is none',
    true,
    { ...V1, response: { uid: 'a', patch, patchType: '' } },
    'webhook returned invalid response.patchType of ""',
  ],
  [
    'a patch where none may be',
    false,
    { ...V1, response: { uid: 'a', patch } },
    'validating webhook may not return response.patch',
  ],
  [
    'a type where none may be',
    false,
    { ...V1, response: { uid: 'a', patchType: 'JSONPatch' } },
    'validating webhook may not return response.patchType',
  ],
])('%s is an invalid answer in v1', (_, mutating, answer, problem) => {
  const review = decodeReview(Buffer.from(JSON.stringify(answer)), 'v1', types);
  expect(() => toVerdict(review, { version: 'v1', uid: 'a', mutating })).toThrow(problem);
});

test('v1beta1 takes answers without type and uid, and patches without their type', () => {
  const review = decodeReview(
    Buffer.from(JSON.stringify({ response: { allowed: true, patch } })),
    'v1beta1',
    types,
  );
  expect(toVerdict(review, { version: 'v1beta1', uid: 'a', mutating: true })).toMatchObject({
    allowed: true,
    patch: Buffer.from('[]'),
    patchType: 'JSONPatch',
  });
  expect(toVerdict(review, { version: 'v1beta1', uid: 'a', mutating: false }).patch).toBeUndefined();
});

test('answers with fields of the wrong type are unreadable', () => {
  expect(() => decodeReview(Buffer.from('{"response":{"allowed":"yes"}}'), 'v1', types)).toThrow(
    /cannot unmarshal string .*allowed of type bool/,
  );
});

test.each<[JsonObject | undefined, number, string]>([
  [undefined, 400, 'admission webhook "w.example.com" denied the request without explanation'],
  [
    { code: 200, status: 'Success' },
    400,
    'admission webhook "w.example.com" denied the request without explanation',
  ],
  [
    { code: 403, reason: 'Forbidden' },
    403,
    'admission webhook "w.example.com" denied the request: Forbidden',
  ],
  [
    { code: 418, reason: 'Tea', message: 'pot' },
    418,
    'admission webhook "w.example.com" denied the request: pot',
  ],
])('a refusal with %j becomes a failure with the name of the webhook', (status, code, message) => {
  expect(toRefusal(webhook, status).status).toMatchObject({ code, message, status: 'Failure' });
});

const as = (authorization: string) => ({ certificate: undefined, key: undefined, authorization });

test.each<[string, readonly string[], string | undefined]>([
  ['a.b.svc:443', ['a.b.svc:443', 'a.b.svc', '*'], 'a.b.svc:443'],
  ['a.b.svc:443', ['*.b.svc', '*.svc', '*'], '*.b.svc'],
  ['a.b.svc:443', ['*.svc:443', 'a.b.svc'], '*.svc:443'],
  ['a.b.svc:8443', ['a.b.svc', '*.svc', '*'], '*'],
  ['a.b.svc:8443', ['*.svc:8443', '*'], '*.svc:8443'],
  ['a.b.svc:443', ['other'], undefined],
])('%s is called as one of %j: %s', (target, names, expected) => {
  const users = { byName: new Map(names.map((name) => [name, as(name)])), current: undefined };
  expect(credentialsFor(target, { users, pair: undefined }).authorization).toBe(expected);
});

test('a webhook without a user of its own is called as the current user, or with the certificate of the flags', () => {
  const current = as('current');
  const pair = { certificate: 'c', key: 'k' };
  expect(credentialsFor('x:1', { users: { byName: new Map(), current }, pair })).toEqual(current);
  expect(credentialsFor('x:1', { users: undefined, pair })).toEqual({ ...pair, authorization: undefined });
});

const V1_CONFIG = { apiVersion: 'apiserver.config.k8s.io/v1', kind: 'WebhookAdmissionConfiguration' };

test.each<[JsonObject, string]>([
  [
    { ...V1_CONFIG, kubeConfigFile: 'users' },
    'kubeConfigFile: Invalid value: "users": must be an absolute file path',
  ],
  [{ ...V1_CONFIG }, 'kubeConfigFile: Invalid value: "": must be an absolute file path'],
  [{ ...V1_CONFIG, kubeConfig: '/x' }, 'kubeConfig: unknown field'],
  [{ kind: 'Other', apiVersion: 'v1' }, 'no kind "Other" is registered for version "v1"'],
  [{}, 'no kind "" is registered for version ""'],
  [{ ...V1_CONFIG, kubeConfigFile: '/nowhere/users' }, '/nowhere/users: ENOENT'],
])('the plugin configuration %j is refused', (config, problem) => {
  expect(() => readWebhookConfig(config)).toThrow(problem);
});

test('without a configuration there are no users', () => {
  expect(readWebhookConfig(undefined)).toBeUndefined();
});

test.each<[number, string, string, string | undefined]>([
  [200, '', '{}', undefined],
  [302, '', '', 'the server responded with the status code 302 but did not return more information'],
  [401, '', '', 'the server has asked for the client to provide credentials'],
  [403, 'text/plain', 'not you\n', 'not you'],
  [
    500,
    'application/octet-stream',
    'x',
    'an error on the server ("unknown") has prevented the request from succeeding',
  ],
  [
    502,
    'text/html; charset=utf-8',
    'bad',
    'an error on the server ("bad") has prevented the request from succeeding',
  ],
  [503, '', '', 'the server is currently unable to handle the request'],
  [500, 'application/json', '{"kind":"Status","message":"as it says"}', 'as it says'],
])(
  'an answer %i %s %s is described as Kubernetes clients describe it',
  (code, contentType, body, problem) => {
    expect(answerProblem({ code, contentType, body: Buffer.from(body) })).toBe(problem);
  },
);

test.each([
  ['https://127.0.0.1:9443//validate', 'https://127.0.0.1:9443/validate'],
  ['https://hooks.example.com:443/a//b/../c/', 'https://hooks.example.com:443/a/c'],
  ['https://[::1]:9443', 'https://[::1]:9443/'],
  ['https://[::1]:9443/', 'https://[::1]:9443/'],
])('of a webhook at %s, the clean path is called', (url, called) => {
  expect(urlOf({ url, service: undefined, ca: '' })).toBe(called);
  const path = url.replace(/^https:..[^/]*/, '');
  const service = { name: 'hook', namespace: 'shop', port: 443, path };
  expect(urlOf({ url: '', service, ca: '' })).toBe(
    `https://hook.shop.svc:443${called.replace(/^https:..[^/]*/, '')}`,
  );
});
