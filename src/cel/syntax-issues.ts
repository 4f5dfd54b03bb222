/**
 * Syntax errors in the words of cel-go's parser, which ANTLR makes. The library stops at the first error, and so does this; after
 * some of them ANTLR goes on and finds more.
 */

/** What the library says, and where. */
interface SyntaxProblem {
  readonly message: string;
  readonly offset: number;
}

const END = '<EOF>';
/** What an expression may begin with, in ANTLR's order. */
const OPERANDS =
  "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";

/** Undefined where ANTLR's words are not known; the library's must do. */
export function syntaxText({ message, offset }: SyntaxProblem, expression: string): string | undefined {
  const token = tokenAt(expression, offset);
  if (message.startsWith('Unexpected token: ')) return notAnOperand(expression, offset, token);
  if (/^Unexpected character: '/.test(message)) return `${unwanted(expression, offset, token)} ${END}`;
  if (message.startsWith('Unexpected character: ')) return unknownCharacter(expression, offset);
  if (message.startsWith('Expected IDENTIFIER, got ')) return notAField(expression, offset, token);
  if (message === 'Expected RPAREN, got EOF') return `missing ')' at '${END}'`;
  if (message === 'Expected COLON, got EOF') return `mismatched input '${END}' expecting ':'`;
  return undefined;
}

const TOKEN =
  /(?:[bBrR]{0,2}(?:"""[\s\S]*?"""|'''[\s\S]*?'''|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'))|\d[\w.]*|[A-Za-z_]\w*|&&|\|\||[=!<>]=|\S/y;
const SPACE = /(?:\s|\/\/[^\n]*)*/y;

function tokenAt(expression: string, offset: number): string {
  SPACE.lastIndex = offset;
  const length = SPACE.exec(expression)?.[0].length ?? 0;
  TOKEN.lastIndex = offset + length;
  return TOKEN.exec(expression)?.[0] ?? END;
}

const CANNOT_BEGIN = /^(?:<EOF>|&&|\|\||[=!<>]=|[)\]}<>*/%+?:,]|in)$/;

/** ANTLR leaves one token out where what follows it fits. */
function unwanted(
  expression: string,
  offset: number,
  token: string,
  fits: (next: string) => boolean = (next) => next === END,
): string {
  const isExtra = token !== END && fits(tokenAt(expression, offset + token.length));
  return `${isExtra ? 'extraneous' : 'mismatched'} input '${token}' expecting`;
}

/** Behind an operator, or at the beginning, anything may stand that begins an expression. Elsewhere a bracket may close, too. */
const BEHIND_OPERATOR = /(?:^|[+*/%<>=&|?:]|\bin|[^\w)\]}\s]\s*\(|^\s*\(|[\w)\]}]\s*-)\s*$/;

function notAnOperand(expression: string, offset: number, token: string): string | undefined {
  if (!BEHIND_OPERATOR.test(expression.slice(0, offset))) return undefined;
  const begins = (next: string): boolean => !CANNOT_BEGIN.test(next);
  return `${unwanted(expression, offset, token, begins)} ${OPERANDS}`;
}

/** Where an operator of two characters could begin, ANTLR has read the second one before it gives up. */
function unknownCharacter(expression: string, offset: number): string {
  const [first = ''] = expression.slice(offset);
  const next = expression[offset + first.length] ?? '';
  return `token recognition error at: '${'=&|'.includes(first) ? first + next : first}'`;
}

function notAField(expression: string, offset: number, token: string): string {
  if (/^(?:true|false|null)$/.test(token)) return `mismatched input '${token}' expecting IDENTIFIER`;
  const dot = expression.lastIndexOf('.', offset - 1);
  return `no viable alternative at input '${expression.slice(dot, offset)}${token === END ? '' : token}'`;
}
