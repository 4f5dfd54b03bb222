import type { JsonObject, JsonValue } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { type CelProgram, type CelVariables, compileCel } from '../../cel/program.ts';
import { duplicate, invalidValue, required } from '../../object/field-errors.ts';
import { isObject } from '../../object/json-values.ts';
import { errorText } from '../../util/error-text.ts';

/** One issuer of tokens, and the mapping of its claims to a user. Checked, with compiled expressions. */
export interface JwtConfig {
  readonly issuer: {
    readonly url: string;
    /** Another place of discovery; '' for the place below the issuer's address. */
    readonly discoveryUrl: string;
    /** PEM; undefined: the host's authorities. */
    readonly certificateAuthority: string | undefined;
    /** The way to its documents (--egress-selector-config-file); undefined: directly. */
    readonly egress?: 'controlplane' | 'cluster' | undefined;
    /** A token must be for one of them. */
    readonly audiences: readonly string[];
  };
  /** The algorithms of signatures (RFC 7518, section 3.1). */
  readonly algorithms: readonly string[];
  /** Claims that must have this text. */
  readonly requiredClaims: ReadonlyMap<string, string>;
  readonly claimRules: readonly Rule[];
  readonly username: ClaimMapping;
  readonly groups: ClaimMapping | undefined;
  readonly uid: ClaimMapping | undefined;
  readonly extra: readonly { readonly key: string; readonly program: CelProgram }[];
  readonly userRules: readonly Rule[];
}

export type ClaimMapping =
  | { readonly kind: 'claim'; readonly claim: string; readonly prefix: string }
  | { readonly kind: 'expression'; readonly program: CelProgram };

export interface Rule {
  readonly program: CelProgram;
  readonly message: string;
}

export const JWT_ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'ES256',
  'ES384',
  'ES512',
  'PS256',
  'PS384',
  'PS512',
] as const;

/**
 * An object of a configuration file. Its errors are collected in `problems`. An unknown field is an error, because a misspelt one
 * would weaken the server unnoticed.
 */
export class ConfigFields {
  readonly path: string;
  readonly #object: JsonObject;
  readonly #problems: FieldError[];

  constructor(
    value: JsonValue | undefined,
    { path, names, problems }: { path: string; names: readonly string[]; problems: FieldError[] },
  ) {
    this.path = path;
    this.#problems = problems;
    this.#object = isObject(value) ? value : {};
    if (value !== undefined && value !== null && !isObject(value)) this.#wrongType(path, 'an object');
    for (const name of Object.keys(this.#object)) {
      if (!names.includes(name))
        problems.push({ type: 'FieldValueForbidden', field: this.at(name), message: 'unknown field' });
    }
  }

  at(name: string): string {
    return this.path === '' ? name : `${this.path}.${name}`;
  }

  has(name: string): boolean {
    return this.#object[name] !== undefined && this.#object[name] !== null;
  }

  /** '' for an absent field. */
  text(name: string): string {
    const value = this.#object[name];
    if (typeof value === 'string') return value;
    if (this.has(name)) this.#wrongType(this.at(name), 'a string');
    return '';
  }

  flag(name: string): boolean {
    const value = this.#object[name];
    if (typeof value !== 'boolean' && this.has(name)) this.#wrongType(this.at(name), 'true or false');
    return value === true;
  }

  texts(name: string): string[] {
    return this.#list(name).map((value, at) => {
      if (typeof value !== 'string') this.#wrongType(`${this.at(name)}[${at}]`, 'a string');
      return String(value);
    });
  }

  child(name: string, names: readonly string[]): ConfigFields {
    return new ConfigFields(this.#object[name], { path: this.at(name), names, problems: this.#problems });
  }

  children(name: string, names: readonly string[]): ConfigFields[] {
    return this.#list(name).map(
      (value, at) =>
        new ConfigFields(value, { path: `${this.at(name)}[${at}]`, names, problems: this.#problems }),
    );
  }

  #list(name: string): JsonValue[] {
    const value = this.#object[name];
    if (Array.isArray(value)) return value;
    if (this.has(name)) this.#wrongType(this.at(name), 'a list');
    return [];
  }

  #wrongType(field: string, right: string): void {
    this.#problems.push({ type: 'FieldValueTypeInvalid', field, message: `must be ${right}` });
  }
}

/** The variables of the configuration's expressions: the claims of a token, or the user made from them. */
export const CLAIMS: CelVariables = { claims: 'map<string, dyn>' };
export const USER: CelVariables = {
  user: { username: 'string', uid: 'string', groups: 'list<string>', extra: 'map<string, list<string>>' },
};

interface Expression {
  readonly variables: CelVariables;
  /** Whether the expression must give a boolean. */
  readonly decides: boolean;
}

/** Undefined for an invalid expression, with a problem added. */
export function compileExpression(
  expression: string,
  field: string,
  { variables, decides }: Expression,
  problems: FieldError[],
): CelProgram | undefined {
  try {
    const program = compileCel(expression, variables);
    if (!decides || program.type === 'bool') return program;
    problems.push(invalidValue(field, expression, 'must evaluate to bool'));
  } catch (error) {
    const why = errorText(error);
    problems.push(invalidValue(field, expression, `compilation failed: ${why}`));
  }
  return undefined;
}

/** Rules with `expression` and `message`; expressions must be unique. */
export function compileRules(
  rules: readonly ConfigFields[],
  variables: CelVariables,
  problems: FieldError[],
): Rule[] {
  const seen = new Set<string>();
  return rules.flatMap((rule) => {
    const expression = rule.text('expression');
    const field = rule.at('expression');
    const message = rule.text('message');
    if (expression === '') problems.push(required(field, 'expression is required'));
    else if (seen.has(expression)) problems.push(duplicate(field, expression));
    else {
      seen.add(expression);
      const program = compileExpression(expression, field, { variables, decides: true }, problems);
      if (program !== undefined) return [{ program, message }];
    }
    return [];
  });
}
