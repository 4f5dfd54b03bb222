import { expect, test } from 'vitest';
import { loadTypes } from '../../src/api/idl/types.ts';
import { AccessDenied, forbidden } from '../../src/api/status.ts';
import type { Logger } from '../../src/observability/logger.ts';
import { answerErrors } from '../../src/pipeline/answer-errors.ts';
import type { ApiRequest } from '../../src/request/api-request.ts';

const PODS = { group: '', resource: 'pods' };

test('refusals of authorizers forbid guesses of their type, those of admission do not', async () => {
  const options = { statusSchema: loadTypes().message('meta/v1.Status'), logger: {} as Logger };
  const request = { headers: {}, query: new URLSearchParams(), userAgent: '' } as unknown as ApiRequest;
  const headersOf = async (error: Error): Promise<unknown> => {
    const answer = await answerErrors(options, request, () => Promise.reject(error));
    return answer.kind === 'bytes' ? { code: answer.code, headers: answer.headers } : answer.kind;
  };
  expect(await headersOf(new AccessDenied(PODS, 'a', 'no role allows it'))).toEqual({
    code: 403,
    headers: { 'x-content-type-options': 'nosniff' },
  });
  expect(await headersOf(forbidden(PODS, 'a', 'exceeded quota'))).toEqual({ code: 403, headers: {} });
});
