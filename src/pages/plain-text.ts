export const PLAIN_TEXT = 'text/plain; charset=utf-8';

export const plainText = (code: number, text: string, contentType = PLAIN_TEXT): Response =>
  new Response(text, {
    status: code,
    headers: { 'content-type': contentType, 'x-content-type-options': 'nosniff' },
  });
