import { pipeline, type Readable, Transform, type Writable } from 'node:stream';
import { BackendError, type BackendMessage } from '../request/backend.ts';

/**
 * Sets the framing of messages for backends. Clients choose the headers: a body without a length, or with a wrong one, would be
 * read as the next request on a connection whose backend trusts this server about its callers.
 */

/** RFC 9112, section 6. These headers of the message are replaced. */
const OF_FRAMING = /^(content-length|transfer-encoding|te|trailer|expect)$/i;
/** Methods whose requests usually have no body (RFC 9110, section 9.3); others must declare an empty one. */
const BODILESS = /^(GET|HEAD|OPTIONS|DELETE|TRACE)$/;

interface Framing {
  /** The headers of the message, with its framing. Names and values in turn. */
  readonly headers: string[];
  /** Undefined: the body ends where its chunks do. */
  readonly length: number | undefined;
}

/** The framing of HTTP/1.1, for any method. */
export function framingOf({ method, headers, body }: BackendMessage): Framing {
  const kept: string[] = [];
  const lengths = new Set<string>();
  for (let at = 0; at + 1 < headers.length; at += 2) {
    const [name = '', value = ''] = [headers[at], headers[at + 1]];
    if (!OF_FRAMING.test(name)) kept.push(name, value);
    else if (name.toLowerCase() === 'content-length') lengths.add(value.trim());
  }
  if (body === undefined)
    return { headers: BODILESS.test(method) ? kept : [...kept, 'Content-Length', '0'], length: 0 };
  const [only = '', ...others] = lengths;
  const length = others.length === 0 && LENGTH.test(only) ? Number(only) : undefined;
  const frame = length === undefined ? ['Transfer-Encoding', 'chunked'] : ['Content-Length', String(length)];
  return { headers: [...kept, ...frame], length };
}

/** Up to the largest exact number. */
const LENGTH = /^\d{1,15}$/;

/** Copies a body, and breaks off one that does not have its length. The target emits the errors. */
export function copyBody(body: Readable, length: number | undefined, target: Writable): void {
  if (length === undefined) pipeline(body, target, () => {});
  else pipeline(body, exactly(length), target, () => {});
}

function exactly(length: number): Transform {
  let left = length;
  return new Transform({
    transform(chunk: Buffer, _, done) {
      left -= chunk.length;
      if (left < 0) done(new BackendError(`the body has more than the announced ${length} bytes`));
      else done(null, chunk);
    },
    flush(done) {
      done(left === 0 ? null : new BackendError(`the body has less than the announced ${length} bytes`));
    },
  });
}
