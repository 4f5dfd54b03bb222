import { badRequest, type StatusError } from '../api/status.ts';

/**
 * A body that is no object of the kind that the path takes, in Kubernetes' words (endpoints/handlers/rest.go,
 * transformDecodeError). Where the body says what it is, the answer begins with that; else it shows how the body begins.
 */

/** What a path takes, or what a body says it is. */
interface Named {
  readonly version: string;
  readonly kind: string;
}

export function unreadable(given: Named, { kind }: Named, why: string): StatusError {
  const version = JSON.stringify(given.version);
  return badRequest(`${given.kind} in version ${version} cannot be handled as a ${kind}: ${why}`);
}

/** `why`: what went wrong before the body could say what it is. */
export function unrecognized({ kind }: Named, why: string, body: Buffer): StatusError {
  return badRequest(
    `the object provided is unrecognized (must be of type ${kind}): ${why} (${summaryOf(body)})`,
  );
}

const SHOWN_BYTES = 30;
const OPEN_OBJECT = 0x7b;

/** JSON as it is, anything else in hexadecimal digits: it may be of any form. */
function summaryOf(body: Buffer): string {
  if (body.length === 0) return '<empty>';
  const shown = body.subarray(0, SHOWN_BYTES).toString(body[0] === OPEN_OBJECT ? 'utf8' : 'hex');
  return body.length > SHOWN_BYTES ? `${shown} ...` : shown;
}
