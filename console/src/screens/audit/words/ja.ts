import type { AuditWords } from './en.ts';

const words: AuditWords = {
  title: '監査',
  type: '種類',
  who: '実行者',
  what: '顧客',
  outcome: '結果',
  outcomes: { done: '実行済み', refused: '拒否' },
  when: '日時',
  from: '接続元',
  client: 'クライアント',
  position: '位置',
  request: 'リクエスト',
  hash: 'ハッシュ',
  organization: '組織全体',
  exportAs: (format) => `${format} で書き出す`,
  nothing: '監査の記録はまだありません。',
  missing: 'この記録はありません。保存期間が過ぎたのかもしれません。',
  changes: '変更前と変更後',
  noChanges: '変更前と変更後の情報はないか、消去されています。',
  place: '場所',
  before: '変更前',
  after: '変更後',
  data: '内容',
  copyData: 'JSON としてコピー',
};
export default words;
