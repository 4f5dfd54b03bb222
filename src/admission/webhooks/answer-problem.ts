import type { JsonValue } from '../../api/object-meta.ts';
import { isObject } from '../../object/merge-patch.ts';
import type { Answer } from '../../outbound/webhook-client.ts';

/** What clients of Kubernetes say of an answer that is no success (apimachinery/pkg/api/errors, NewGenericServerResponse). */
const TEXTS: Readonly<Record<number, string>> = {
  400: 'the server rejected our request for an unknown reason',
  401: 'the server has asked for the client to provide credentials',
  404: 'the server could not find the requested resource',
  405: 'the server does not allow this method on the requested resource',
  409: 'the server reported a conflict',
  422: 'the server rejected our request due to an error in our request',
  429: 'the server has received too many requests and has asked us to try again later',
  503: 'the server is currently unable to handle the request',
  504: 'the server was unable to return a response in the time allotted, but may still be processing the request',
};

/** Codes for which the other server's own words are told. */
const QUOTED: ReadonlySet<number> = new Set([403, 406, 415]);

/** Undefined: the answer is a success and to be read. */
export function answerProblem({ code, body, contentType }: Answer): string | undefined {
  if (code >= 200 && code <= 206) return undefined;
  const told = statusMessage(body);
  if (told !== undefined) return told;
  const isText = contentType === '' || contentType.startsWith('text/');
  const said = isText ? body.toString('utf8').trim() : 'unknown';
  if (QUOTED.has(code)) return said;
  const known = TEXTS[code];
  if (known !== undefined) return known;
  return code >= 500
    ? `an error on the server (${JSON.stringify(said)}) has prevented the request from succeeding`
    : `the server responded with the status code ${code} but did not return more information`;
}

/** Of a body that is a Status. */
function statusMessage(body: Buffer): string | undefined {
  try {
    const value = JSON.parse(body.toString('utf8')) as JsonValue;
    const isStatus = isObject(value) && value.kind === 'Status' && typeof value.message === 'string';
    return isStatus ? String(value.message) : undefined;
  } catch {
    return undefined;
  }
}
