import { LRUCache } from 'lru-cache';
import { RE2JS, RE2JSSyntaxException } from 're2js';
import { sizeOfPattern } from './pattern-size.ts';

/**
 * Regular expressions of Go's regexp package: the same syntax, and time linear in the text, so that neither a schema nor a
 * value can block the server. Cached, because definitions are few and values many.
 */
const compiled = new LRUCache<string, RE2JS>({ max: 4096 });

/** The cache of one pattern. Ordinary ones take a few kilobytes; the library allows 8 MB. */
const MAX_MEMORY_BYTES = 256 * 1024;

/** The message is Go's. */
export class PatternError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'PatternError';
  }
}

/** Whether the pattern matches anywhere in the text. @throws PatternError */
export const matchesPattern = (pattern: string, text: string): boolean => compilePattern(pattern).test(text);

/**
 * The most that a search may cost: instructions of the pattern times characters of the text, each up to 30 ns. Most take a
 * thousandth.
 */
export const effortOf = (pattern: RE2JS, text: string): number => pattern.programSize() * text.length;

/** Six milliseconds at most. A longer search yields the event loop. */
export const MAX_EFFORT_AT_ONCE = 200_000;
/** The cost of a value without a pattern. */
export const EFFORT_OF_VALUE = 256;

/** Undefined: the pattern is invalid. */
export function patternOf(pattern: string): RE2JS | undefined {
  try {
    return compilePattern(pattern);
  } catch (error) {
    if (error instanceof PatternError) return undefined;
    throw error;
  }
}

/** Go accepts patterns a hundred times larger. Compiling this many instructions takes 30 ms. */
const MAX_SIZE = 20_000;

/** @throws PatternError */
export function compilePattern(pattern: string): RE2JS {
  const known = compiled.get(pattern);
  if (known !== undefined) return known;
  const fresh = compile(pattern);
  compiled.set(pattern, fresh);
  return fresh;
}

function compile(pattern: string): RE2JS {
  if (sizeOfPattern(pattern) > MAX_SIZE) throw new PatternError('error parsing regexp: expression too large');
  try {
    const fresh = RE2JS.compile(pattern);
    const memory = fresh.re2().dfa;
    memory.stateBudget = MAX_MEMORY_BYTES;
    memory.memBudget = MAX_MEMORY_BYTES;
    return fresh;
  } catch (error) {
    if (!(error instanceof RE2JSSyntaxException)) throw error;
    throw new PatternError(error.message);
  }
}
