import { expect, it } from 'vitest';
import { doubtContent } from './stored-content.ts';

// The check values of the catalog of CRC algorithms, and the digests of the same text.
it.each([
  ['x-amz-checksum-crc32', 'y/Q5Jg=='],
  ['x-amz-checksum-crc32c', '4waSgw=='],
  ['x-amz-checksum-crc64nvme', 'rosUhgp5mIg='],
  ['x-amz-checksum-sha1', '98O8HYCOBHMq32eZZczDTKeuNEE='],
  ['x-amz-checksum-sha256', 'FeKw08M4keuw8e9gnsQZQgwg4yDOlMZfvIwzEkSOsiU='],
  ['etag', '"25f9e794323b453885f5181f1b624d0b"'],
])('%s reports what is stored', (header, value) => {
  expect(doubtContent({ headers: { [header]: value } }, Buffer.from('123456789'))).toBeUndefined();
  expect(doubtContent({ headers: { [header]: value } }, Buffer.from('123456780'))).toMatch('different bytes');
});
