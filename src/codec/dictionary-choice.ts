import type { Steps } from '../util/turns.ts';
import { Dictionary, MAX_DICTIONARY_BYTES } from './condensing.ts';

/** Of a larger object, the dictionary takes the beginning. */
const MOST_SAMPLE_BYTES = 16 * 1024;
/** A sample that becomes smaller than this adds little to the dictionary. */
const LEAST_SHARE = 0.1;

/**
 * Chooses a dictionary of samples: one after the other, those that the ones before them do not cover. So each shape of object has an
 * example, such as a pod of each deployment.
 */
export function* chooseDictionary(samples: readonly Buffer[]): Steps<Dictionary> {
  const chosen: Buffer[] = [];
  let sizeBytes = 0;
  let dictionary = new Dictionary(Buffer.alloc(0));
  for (const sample of samples) {
    const part = sample.subarray(0, MOST_SAMPLE_BYTES);
    if (sizeBytes + part.length > MAX_DICTIONARY_BYTES) continue;
    yield;
    const condensed = dictionary.condense(part)?.length ?? part.length;
    if (condensed < part.length * LEAST_SHARE) continue;
    chosen.push(part);
    sizeBytes += part.length;
    dictionary = new Dictionary(Buffer.concat(chosen));
  }
  return dictionary;
}
