import type { RE2JS } from 're2js';
import type { Pace, Steps } from '../util/turns.ts';

/**
 * Searches a long text for a pattern, yielding the event loop. The library does not yield: it is linear in the text, but takes
 * up to 30 ns per character and instruction, a minute for a megabyte and two thousand instructions. This runs the library's
 * program for all starting points at once (Thompson; Go's regexp, exec.go).
 */
export function* searchInSteps(pattern: RE2JS, text: string, pace: Pace): Steps<boolean> {
  const search = new Search(programOf(pattern));
  for (let at = 0, before = NO_CHARACTER; ; ) {
    const next = text.codePointAt(at) ?? NO_CHARACTER;
    search.enter(before, next);
    while (!search.isEntered()) {
      search.enterSome();
      if (pace.isOver(COST_OF_SOME)) yield* pace.pass();
    }
    if (search.hasMatched) return true;
    if (next === NO_CHARACTER) return false;
    while (!search.hasRead()) {
      search.readSome(next);
      if (pace.isOver(COST_OF_SOME)) yield* pace.pass();
    }
    before = next;
    at += next > 0xffff ? 2 : 1;
  }
}

/** Instructions between checks of the turn, and their cost in values. */
const SOME = 2048;
const COST_OF_SOME = 16;

const NO_CHARACTER = -1;

/** Opcodes of the library. */
const ALT = 1;
const ALT_MATCH = 2;
const CAPTURE = 3;
const EMPTY_WIDTH = 4;
const MATCH = 6;
const NOP = 7;
const RUNE = 8;
const ANY_BUT_NEWLINE = 11;

const BEGIN_LINE = 1;
const END_LINE = 2;
const BEGIN_TEXT = 4;
const END_TEXT = 8;
const WORD_BOUNDARY = 16;
const NO_WORD_BOUNDARY = 32;

interface Instruction {
  readonly op: number;
  readonly out: number;
  readonly arg: number;
  matchRune(character: number): boolean;
}

/** The library does not export the type of programs. */
interface LibraryProgram {
  readonly inst: readonly Instruction[];
  readonly start: number;
}

interface Program {
  readonly instructions: readonly Instruction[];
  readonly start: number;
}

const programs = new WeakMap<RE2JS, Program>();

function programOf(pattern: RE2JS): Program {
  let program = programs.get(pattern);
  if (program === undefined) {
    const { inst, start }: LibraryProgram = pattern.re2().prog;
    program = { instructions: inst, start };
    programs.set(pattern, program);
  }
  return program;
}

/** The instructions that the text so far leads to. */
class Search {
  readonly #program: Program;
  /** Instructions at the next character: first those to enter, then entered ones. */
  #waiting: number[] = [];
  #reading: number[] = [];
  /** The step in which each instruction was last entered. */
  readonly #entered: Uint32Array;
  #step = 0;
  #conditions = 0;
  #next = 0;
  hasMatched = false;

  constructor(program: Program) {
    this.#program = program;
    this.#entered = new Uint32Array(program.instructions.length);
  }

  /** Moves between two characters. */
  enter(before: number, next: number): void {
    this.#step += 1;
    this.#conditions = conditionsBetween(before, next);
    this.#reading = [];
    this.#next = 0;
    this.#waiting.push(this.#program.start);
  }

  isEntered(): boolean {
    return this.#waiting.length === 0 || this.hasMatched;
  }

  /** Follows the program to instructions that read a character. */
  enterSome(): void {
    for (let left = SOME; left > 0 && this.#waiting.length > 0; left -= 1) {
      const at = this.#waiting.pop() ?? 0;
      if (this.#entered[at] === this.#step) continue;
      this.#entered[at] = this.#step;
      this.#follow(at);
    }
  }

  #follow(at: number): void {
    const instruction = this.#program.instructions[at];
    if (instruction === undefined) return;
    const { op, out, arg } = instruction;
    if (op === ALT || op === ALT_MATCH) this.#waiting.push(arg, out);
    else if (op === CAPTURE || op === NOP) this.#waiting.push(out);
    else if (op === EMPTY_WIDTH) {
      if ((arg & ~this.#conditions) === 0) this.#waiting.push(out);
    } else if (op === MATCH) this.hasMatched = true;
    else if (op >= RUNE && op <= ANY_BUT_NEWLINE) this.#reading.push(at);
  }

  hasRead(): boolean {
    return this.#next >= this.#reading.length;
  }

  readSome(character: number): void {
    const end = Math.min(this.#next + SOME, this.#reading.length);
    for (; this.#next < end; this.#next += 1) {
      const instruction = this.#program.instructions[this.#reading[this.#next] ?? 0];
      if (instruction !== undefined && reads(instruction, character)) this.#waiting.push(instruction.out);
    }
  }
}

function reads(instruction: Instruction, character: number): boolean {
  if (instruction.op === ANY_BUT_NEWLINE) return character !== NEWLINE;
  return instruction.op === ANY || instruction.matchRune(character);
}

const ANY = 10;
const NEWLINE = 10;

function conditionsBetween(before: number, next: number): number {
  let conditions = isWord(before) === isWord(next) ? NO_WORD_BOUNDARY : WORD_BOUNDARY;
  if (before === NO_CHARACTER) conditions |= BEGIN_TEXT | BEGIN_LINE;
  if (before === NEWLINE) conditions |= BEGIN_LINE;
  if (next === NO_CHARACTER) conditions |= END_TEXT | END_LINE;
  if (next === NEWLINE) conditions |= END_LINE;
  return conditions;
}

const isWord = (character: number): boolean =>
  (character >= 48 && character <= 57) ||
  (character >= 65 && character <= 90) ||
  character === 95 ||
  (character >= 97 && character <= 122);
