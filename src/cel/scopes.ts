import type { LibraryType, LibraryVariable, SyntaxNode } from './library-internals.ts';

/**
 * Variables while an expression is checked and while it runs, as the library's nodes ask for them. The library's own check
 * every item of every list against its type again; values from a schema have their types already.
 */

type Lookup = (name: string) => LibraryVariable | undefined;

export class CheckScope {
  readonly #lookup: Lookup;

  constructor(lookup: Lookup) {
    this.#lookup = lookup;
  }

  getVariable(name: string): LibraryVariable | undefined {
    return this.#lookup(name);
  }

  forkWithVariable(name: string, type: LibraryType): IterationScope {
    return new IterationScope(this, name, type);
  }
}

export class RunScope {
  readonly #values: Readonly<Record<string, unknown>>;

  constructor(values: Readonly<Record<string, unknown>>) {
    this.#values = values;
  }

  getValue(name: string): unknown {
    return this.#values[name];
  }

  /** @throws Error when the variable has no value */
  getCheckedValue(_evaluator: unknown, { args }: SyntaxNode): unknown {
    const value = this.getValue(String(args));
    if (value === undefined) throw new Error(`no such attribute(s): ${String(args)}`);
    return value;
  }
}

/** The variable of a macro: made when the macro is checked, and used again whenever it runs. */
class IterationScope {
  accuType: LibraryType | undefined;
  accuValue: unknown;
  iterValue: unknown;
  #parent: CheckScope | RunScope | IterationScope;
  readonly #name: string;
  readonly #type: LibraryType;

  constructor(parent: CheckScope | IterationScope, name: string, type: LibraryType) {
    this.#parent = parent;
    this.#name = name;
    this.#type = type;
  }

  forkWithVariable(name: string, type: LibraryType): IterationScope {
    return new IterationScope(this, name, type);
  }

  getVariable(name: string): LibraryVariable | undefined {
    if (name === this.#name) return { name, type: this.#type, constant: false };
    return this.#parent instanceof RunScope ? undefined : this.#parent.getVariable(name);
  }

  setAccuType(type: LibraryType): this {
    this.accuType = type;
    return this;
  }

  reuse(parent: RunScope | IterationScope): this {
    this.#parent = parent;
    return this;
  }

  setIterValue(value: unknown): this {
    this.iterValue = value;
    return this;
  }

  getValue(name: string): unknown {
    if (name === this.#name) return this.iterValue;
    return this.#parent instanceof CheckScope ? undefined : this.#parent.getValue(name);
  }

  getCheckedValue(evaluator: unknown, node: SyntaxNode): unknown {
    if (node.args === this.#name) return this.iterValue;
    return this.#parent instanceof CheckScope ? undefined : this.#parent.getCheckedValue(evaluator, node);
  }
}
