import { RE2JS, RE2JSSyntaxException } from 're2js';

/**
 * Regular expressions as Go's regexp package takes them: the same syntax, and time that is linear in the text, so that
 * neither a schema nor a value can keep the server busy. Compiled once; definitions are few and values many.
 */
const compiled = new Map<string, RE2JS>();
const MAX_COMPILED = 10_000;

/** The message is Go's. */
export class PatternError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'PatternError';
  }
}

/** Whether the pattern matches anywhere in the text. @throws PatternError */
export const matchesPattern = (pattern: string, text: string): boolean => compilePattern(pattern).test(text);

/** @throws PatternError */
export function compilePattern(pattern: string): RE2JS {
  const known = compiled.get(pattern);
  if (known !== undefined) return known;
  if (compiled.size >= MAX_COMPILED) compiled.clear();
  const fresh = compile(pattern);
  compiled.set(pattern, fresh);
  return fresh;
}

function compile(pattern: string): RE2JS {
  try {
    return RE2JS.compile(pattern);
  } catch (error) {
    if (!(error instanceof RE2JSSyntaxException)) throw error;
    throw new PatternError(error.message);
  }
}
