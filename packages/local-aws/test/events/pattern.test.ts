import { describe, expect, test } from '@jest/globals';
import { checkPattern, matchesEvent } from '../../src/events/pattern.ts';
import type { AwsEvent } from '../../src/types.ts';

const event: AwsEvent = {
  version: '0',
  id: '1',
  'detail-type': 'Order Placed',
  source: 'shop.orders',
  account: '000000000000',
  time: '2026-01-01T00:00:00Z',
  region: 'us-east-1',
  resources: ['arn:one', 'arn:two'],
  detail: { status: 'PAID', count: 2, isGift: false, note: null, place: { city: 'Oslo' } },
};

describe('an event pattern', () => {
  test.each<[Record<string, unknown>, boolean]>([
    [{}, true],
    [{ source: ['shop.orders'] }, true],
    [{ source: ['other', 'shop.orders'] }, true],
    [{ source: ['shop'] }, false],
    [{ source: ['SHOP.ORDERS'] }, false],
    [{ resources: ['arn:two'] }, true],
    [{ resources: ['arn:three'] }, false],
    [{ 'detail-type': ['Order Placed'], detail: { status: ['PAID', 'SENT'] } }, true],
    [{ 'detail-type': ['Order Placed'], detail: { status: ['SENT'] } }, false],
    [{ detail: { status: ['PAID'], place: { city: ['Oslo'] } } }, true],
    [{ detail: { place: { city: ['Bergen'] } } }, false],
    [{ detail: { place: { street: ['x'] } } }, false],
    [{ detail: { status: { city: ['Oslo'] } } }, false],
    [{ detail: { count: [2] } }, true],
    [{ detail: { count: ['2'] } }, false],
    [{ detail: { isGift: [false] } }, true],
    [{ detail: { note: [null] } }, true],
    [{ detail: { missing: [null] } }, false],
    [{ detail: { status: [{ 'anything-but': ['SENT', 'LOST'] }] } }, true],
    [{ detail: { status: [{ 'anything-but': ['SENT', 'PAID'] }] } }, false],
    [{ detail: { status: ['PAID', { 'anything-but': ['PAID'] }] } }, true],
    [{ detail: { note: [{ 'anything-but': ['x'] }] } }, true],
    [{ detail: { missing: [{ 'anything-but': ['x'] }] } }, false],
    [{ detail: { $or: [{ status: ['SENT'] }, { status: ['PAID'], count: [2] }] } }, true],
    [{ detail: { $or: [{ status: ['SENT'] }, { status: ['PAID'], count: [3] }] } }, false],
    [{ detail: { $or: [{ count: [2] }, { count: [3] }], status: ['SENT'] } }, false],
  ])('%j: %s', (pattern, expected) => {
    expect(() => checkPattern(pattern)).not.toThrow();
    expect(matchesEvent(pattern, event)).toBe(expected);
  });

  test.each<[Record<string, unknown>, RegExp]>([
    [{ source: 'shop.orders' }, /source is not a list/],
    [{ source: [] }, /source is not a list/],
    [{ detail: { status: [{ 'anything-but': 'PAID' }] } }, /detail\.status holds a matcher/],
    [{ detail: { status: [{ 'anything-but': [{ prefix: 'P' }] }] } }, /detail\.status holds a matcher/],
    [{ detail: { $or: [{ status: ['PAID'] }] } }, /\$or is not a list of alternatives/],
    [{ detail: { $or: [{ status: 'PAID' }, { status: ['SENT'] }] } }, /detail\.status is not a list/],
    [{ source: ['x', { prefix: 'shop.' }] }, /source holds a matcher/],
  ])('%j is refused by name', (pattern, message) => {
    expect(() => checkPattern(pattern)).toThrow(message);
  });
});
