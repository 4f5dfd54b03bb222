import type { ValidationRule } from '../../api/types/apiextensions/v1.ts';
import { type DeclaredProgram, DeclaredTypes } from '../../cel/declared.ts';
import type { SyntaxNode } from '../../cel/library-internals.ts';
import type { NewExpressions } from '../../cel/newer.ts';
import { CelError } from '../../cel/program.ts';
import type { DeclaredType } from './rule-types.ts';
import { someNode } from './syntax.ts';

/** A compiled rule, or its error (apiextensions-apiserver, apiserver/schema/cel/compilation.go). */
export interface CompiledRule {
  readonly program: DeclaredProgram | undefined;
  /** '' when it compiles. */
  readonly problem: string;
  /** Uses the old value. */
  readonly usesOldSelf: boolean;
  /** Undefined: none, or it does not compile. */
  readonly message: DeclaredProgram | undefined;
  readonly messageProblem: string;
}

/** Compiles the rules of one schema. */
export class RuleCompiler {
  readonly #types = new DeclaredTypes();
  readonly #limit: NewExpressions | undefined;

  /** `limit`: of a schema that is written; absent: all functions are known. */
  constructor(limit?: NewExpressions) {
    this.#limit = limit;
  }

  compile(rule: ValidationRule, self: DeclaredType): CompiledRule {
    const { rule: code = '', messageExpression = '', optionalOldSelf = false } = rule;
    if (code.trim() === '') return UNWRITTEN;
    const oldSelf = optionalOldSelf ? ({ kind: 'optional', of: self } as const) : self;
    const variables = { self, oldSelf };
    const compiled = this.#compile(code, variables, 'bool');
    const { program, problem } = compiled;
    const isMessageNeeded = messageExpression !== '' && program !== undefined;
    const message = isMessageNeeded ? this.#compile(messageExpression, variables, 'string') : NOTHING;
    return {
      program,
      problem,
      usesOldSelf: program !== undefined && someNode(program.tree, isOldSelf),
      message: message.program,
      messageProblem: message.problem,
    };
  }

  #compile(
    code: string,
    variables: Parameters<DeclaredTypes['compile']>[1],
    gives: 'bool' | 'string',
  ): Result {
    try {
      const isStored = this.#limit === undefined || this.#limit.stored.has(code);
      const program = this.#types.compile(code, variables, isStored ? undefined : this.#limit?.newest);
      return program.type === gives
        ? { program, problem: '' }
        : { program: undefined, problem: WRONG_TYPE[gives] };
    } catch (error) {
      if (!(error instanceof CelError)) throw error;
      const what = gives === 'bool' ? '' : 'messageExpression ';
      return { program: undefined, problem: `${what}${error.message}` };
    }
  }
}

interface Result {
  readonly program: DeclaredProgram | undefined;
  readonly problem: string;
}

const NOTHING: Result = { program: undefined, problem: '' };
/** A rule without text is refused elsewhere. */
const UNWRITTEN: CompiledRule = { ...NOTHING, usesOldSelf: false, message: undefined, messageProblem: '' };

const WRONG_TYPE = {
  bool: 'cel expression must evaluate to a bool',
  string: 'messageExpression must evaluate to a string',
};

const isOldSelf = ({ op, args }: SyntaxNode): boolean => op === 'id' && args === 'oldSelf';
