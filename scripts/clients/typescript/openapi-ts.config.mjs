export default {
  input: 'openapi.yaml',
  output: 'generated',
  plugins: ['@hey-api/typescript', '@hey-api/client-fetch', 'zod', { name: '@hey-api/sdk', validator: true }],
};
