import { expect, test } from 'vitest';
import { DelayMeter } from './delays.ts';
import { EventCounter } from './event-counter.ts';
import { compileTemplate } from './template.ts';

test('placeholders are filled in, and other dollars stay', () => {
  const fill = compileTemplate('p-$N on node-$M, $(NAME) at $V, turn $S');
  expect(fill({ object: 2007, sequence: 3, version: '12' })).toBe('p-2007 on node-7, $(NAME) at 12, turn 3');
  expect(compileTemplate('plain')({ object: 1 })).toBe('plain');
  expect(compileTemplate('$T')({ object: 1 })).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
});

test('an event is counted once, with cuts at every byte', () => {
  const bytes = Buffer.from('1a\r\n{"type":"ADDED","a":{}}\n\r\n8\r\n{"b":1}\n\r\n');
  for (let cut = 0; cut <= bytes.length; cut += 1) {
    const counter = new EventCounter();
    const parts = [bytes.subarray(0, cut), bytes.subarray(cut)];
    expect(parts.reduce((sum, part) => sum + counter.count(part), 0)).toBe(2);
  }
});

test('a delay is from reply to event, negative when the event was first', () => {
  const meter = new DelayMeter();
  meter.seen('1', 10);
  meter.replied('1', 12);
  meter.replied('2', 20);
  meter.seen('2', 25);
  meter.seen('3', 30);
  expect(meter.take()).toEqual([5, -2]);
  expect(meter.take()).toEqual([]);
});
