/**
 * Converts syntax errors to the messages of cel-go's ANTLR parser. The library stops at the first error, and so does this;
 * after some errors ANTLR continues and finds more.
 */

/** The library's message and position. */
interface SyntaxProblem {
  readonly message: string;
  readonly offset: number;
}

const END = '<EOF>';
/** The tokens that may begin an expression, in ANTLR's order. */
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

/** ANTLR skips one token if the following one fits. */
function unwanted(
  expression: string,
  offset: number,
  token: string,
  fits: (next: string) => boolean = (next) => next === END,
): string {
  const isExtra = token !== END && fits(tokenAt(expression, offset + token.length));
  return `${isExtra ? 'extraneous' : 'mismatched'} input '${token}' expecting`;
}

/** After an operator or at the beginning, any start of an expression may follow. Elsewhere also a closing bracket. */
const BEHIND_OPERATOR = /(?:^|[+*/%<>=&|?:]|\bin|[^\w)\]}\s]\s*\(|^\s*\(|[\w)\]}]\s*-)\s*$/;

function notAnOperand(expression: string, offset: number, token: string): string | undefined {
  if (!BEHIND_OPERATOR.test(expression.slice(0, offset))) return undefined;
  const begins = (next: string): boolean => !CANNOT_BEGIN.test(next);
  return `${unwanted(expression, offset, token, begins)} ${OPERANDS}`;
}

/** For a possible two-character operator, ANTLR has read the second character before it fails. */
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
