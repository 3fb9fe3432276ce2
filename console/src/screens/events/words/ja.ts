import type { EventsWords } from './en.ts';

const words: EventsWords = {
  title: 'イベント',
  type: '種類',
  when: '日時',
  position: '位置',
  customer: '顧客',
  organization: '組織全体',
  nothing: 'まだ何も起きていません。最初のソースを接続すると、ここにイベントが表示されます。',
  data: '内容',
  copyData: 'JSON としてコピー',
  id: 'ID',
  resend: 'Webhook に再送信',
  resent: (number) => `${number} 件の Webhook に再送信しました`,
};
export default words;
