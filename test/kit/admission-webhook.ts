import type { Respond } from './webhook-server.ts';

/** Answers of admission webhooks. */

// biome-ignore lint/suspicious/noExplicitAny: tests look into what was sent
type Asked = any;

/** The response of a review, as a function of its request. */
export const respondWith =
  (make: (request: Asked) => object): Respond =>
  (_request, response, body) => {
    const { apiVersion, request } = JSON.parse(body);
    const answer = { kind: 'AdmissionReview', apiVersion, response: { uid: request.uid, ...make(request) } };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
  };

export const allow: Respond = respondWith(() => ({ allowed: true }));

export const deny = (status?: object): Respond => respondWith(() => ({ allowed: false, status }));

export const patchWith = (...operations: object[]): Respond => respondWith(() => patched(operations));

export const patched = (operations: readonly object[]): object => ({
  allowed: true,
  patchType: 'JSONPatch',
  patch: Buffer.from(JSON.stringify(operations)).toString('base64'),
});

export const base64 = (text: string): string => Buffer.from(text).toString('base64');
